import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli/run-cli.ts';

describe('invalid arguments', () => {
  it.each([
    [['zone', 'lod', 'x'], /unknown command 'lod' \(Did you mean load\?\)/],
    [['zone', 'load'], /missing required argument 'path'/],
    [['zone', 'load', '--orign', 'a', 'x'], /unknown option '--orign'/],
    [['zone', 'check', '--origin', 'a..b', 'x'], /not a zone name/],
    [['nonsense'], /unknown command 'nonsense'/],
  ])('%j exit with 2 and print one line on stderr, as JSON with --json', async (args, message) => {
    const [text, json] = await Promise.all([runCli(args), runCli(['--json', ...args])]);
    expect(text).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(text.stderr).toMatch(/^zonefleet: [^\n]+\n$/);
    expect(json).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(json.stderr)).toEqual({
      error: { code: 'usage', message: expect.stringMatching(message) },
    });
  });

  it('a group without a command prints its commands and exits with 2', async () => {
    expect(await runCli(['zone'])).toMatchObject({ code: 2, stderr: expect.stringContaining('export') });
  });
});

it('--help and --version print to stdout and exit with 0; --help marks required options, in every group', async () => {
  const { stdout } = await runCli(['edge', 'create', '--help']);
  expect(stdout).toMatch(/--region <region> [^-]*\(required\)/);
  const [help, version] = await Promise.all([runCli(['zone', 'load', '--help']), runCli(['--version'])]);
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('--origin'), stderr: '' });
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

describe('a command that needs the database', () => {
  it('fails if neither DATABASE_URL nor a running npm start provides a database', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'zonefleet-none-'));
    const { code, stderr } = await runCli(['zone', 'unload', 'example.com'], { dataDirectory });
    rmSync(dataDirectory, { recursive: true });
    expect(code).toBe(2);
    expect(stderr).toContain(`DATABASE_URL is not set, and no "npm start" is running in ${dataDirectory}`);
  });

  it('reports that Postgres does not respond, without the password', async () => {
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
