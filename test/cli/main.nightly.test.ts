import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli/run-cli.ts';

describe('words that make no command', () => {
  it.each([
    [['zone', 'lod', 'x'], /unknown command 'lod' \(Did you mean load\?\)/],
    [['zone', 'load'], /missing required argument 'path'/],
    [['zone', 'load', '--orign', 'a', 'x'], /unknown option '--orign'/],
    [['zone', 'check', '--origin', 'a..b', 'x'], /not a zone's name/],
    [['nonsense'], /unknown command 'nonsense'/],
  ])('%j answer 2 and one line on stderr, as JSON with --json', async (args, message) => {
    const [text, json] = await Promise.all([runCli(args), runCli(['--json', ...args])]);
    expect(text).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(text.stderr).toMatch(/^zonefleet: [^\n]+\n$/);
    expect(json).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(json.stderr)).toEqual({
      error: { code: 'usage', message: expect.stringMatching(message) },
    });
  });

  it('a group without its command shows its commands and answers 2', async () => {
    expect(await runCli(['zone'])).toMatchObject({ code: 2, stderr: expect.stringContaining('export') });
  });
});

it('--help and --version answer 0 on stdout; --help marks required options, in every group of commands', async () => {
  const { stdout } = await runCli(['edge', 'create', '--help']);
  expect(stdout).toMatch(/--region <region> [^-]*\(required\)/);
  const [help, version] = await Promise.all([runCli(['zone', 'load', '--help']), runCli(['--version'])]);
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('--origin'), stderr: '' });
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

describe('a command that needs the database', () => {
  it('says so when neither DATABASE_URL nor a running npm start leads to one', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'zonefleet-none-'));
    const { code, stderr } = await runCli(['zone', 'unload', 'example.com'], { dataDirectory });
    rmSync(dataDirectory, { recursive: true });
    expect(code).toBe(2);
    expect(stderr).toContain(`DATABASE_URL is not set, and no "npm start" runs on ${dataDirectory}`);
  });

  it('says that Postgres does not answer, and never the password', async () => {
    const databaseUrl = 'postgresql://zone:geheim@127.0.0.1:1/zones';
    const { code, stderr } = await runCli(['--json', 'zone', 'export', 'example.com'], { databaseUrl });
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'database',
      message: expect.stringMatching(/ECONNREFUSED/),
    });
    expect(stderr).not.toContain('geheim');
  });
});
