import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Help } from 'commander';
import { describe, expect, it } from 'vitest';
import { CORE_COMMANDS } from '../../src/cli/core-commands.ts';
import { Cli } from '../../src/cli/terminal/cli.ts';
import { termsOf } from '../../src/cli/terminal/commands.ts';
import { FEATURES } from '../../src/features/every-feature.ts';
import { printBuild, readBuild } from '../../src/process/build.ts';
import { runCli } from '../support/cli/run-cli.ts';
import { captureOutput } from '../support/tests/captured-output.ts';

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
  expect(version).toMatchObject({ code: 0, stdout: `${printBuild(readBuild())}\n` });
});

it('the table of commands has the arguments and options of each command, and all that extend others', async () => {
  const parts = [...CORE_COMMANDS, ...FEATURES.flatMap(({ commands }) => commands ?? [])];
  const terms = new Map<string, string>();
  for (const { listed, extended = [], load } of parts) {
    const program = new Command();
    (await load())(program, new Cli(captureOutput(false).output, () => Promise.reject()));
    const names = Object.keys(listed).map((term) => term.replace(/ .*/, ''));
    expect(program.commands.map((command) => command.name()).sort()).toEqual([...names, ...extended].sort());
    for (const command of program.commands)
      if (names.includes(command.name())) terms.set(command.name(), new Help().subcommandTerm(command));
  }
  expect(terms).toEqual(termsOf(parts));
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
