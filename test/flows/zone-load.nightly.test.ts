// An operator's day with zone files, through the real command line: load a folder, export, check with other programs,
// unload, load what was exported.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliRun, runCli } from '../support/cli/run-cli.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import type { DenialStyle } from '../support/dnssec/denial-chain.ts';
import { signZoneText } from '../support/dnssec/sign-zone-text.ts';
import { makeKey } from '../support/dnssec/signing.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { makeZoneFolder, type ZoneFolder } from '../support/zone/zone-folder.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/zones', import.meta.url));

let database: TestDatabase;
let folder: ZoneFolder;

beforeAll(async () => {
  database = await createDatabase();
  folder = makeZoneFolder();
});
afterAll(async () => {
  folder.remove();
  await database.drop();
});

const run = (...args: string[]): Promise<CliRun> => runCli(args, { databaseUrl: database.url });

describe('the fixture zones', () => {
  /** Name and exported file of each zone. */
  const exported: { zone: string; file: string }[] = [];

  it('load as a folder, in one call', async () => {
    const { code, stdout, stderr } = await run('zone', 'load', '--json', FIXTURES);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { files, summary } = JSON.parse(stdout);
    expect(summary).toMatchObject({ refused: 0, complete: true });
    expect(summary.created).toBeGreaterThanOrEqual(10);
    for (const [i, { zone }] of files.entries())
      exported.push({ zone, file: join(folder.path, `${i}.zone`) });
  });

  it('export, one by one, into files', async () => {
    const waiting = [...exported];
    const lane = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const { code, stdout } = await run('zone', 'export', next.zone, '--output', next.file);
        expect(code).toBe(0);
        expect(stdout).toMatch(/^exported .* version \d+ records \d+\n$/);
      }
    };
    await Promise.all([lane(), lane()]);
  });

  const checkers = [
    // Do not check whether the targets of a zone exist.
    ['named-checkzone', ['-i', 'none', '-k', 'ignore', '-n', 'ignore', '-M', 'ignore', '-S', 'ignore']],
    ['nsd-checkzone', []],
  ] as const;
  for (const [program, flags] of checkers) {
    const missing = !isInstalled(program);
    const why = missing ? ` (skipped: needs ${program})` : '';
    it.skipIf(missing)(`are accepted by ${program} as exported${why}`, () => {
      expect(exported.length).toBeGreaterThanOrEqual(10);
      const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
      for (const { zone, file } of exported) {
        const checked = spawnSync(program, [...flags, zone, file], { encoding: 'utf8', env });
        expect(checked.status, `${zone}: ${checked.stdout}${checked.stderr}`).toBe(0);
      }
    });
  }

  it('unload in one call, and are gone', async () => {
    const { code, stdout } = await run('zone', 'unload', '--json', ...exported.map(({ zone }) => zone));
    expect(code).toBe(0);
    expect(JSON.parse(stdout).summary).toEqual({ unloaded: exported.length, absent: 0, refused: 0 });
    expect(await run('zone', 'export', exported[0]!.zone)).toMatchObject({ code: 1, stdout: '' });
  });

  it('come back from their exports, and export the same text as before', async () => {
    const { stdout } = await run('zone', 'load', '--json', folder.path);
    expect(JSON.parse(stdout).summary).toMatchObject({ created: exported.length, refused: 0 });
    const { zone, file } = exported.find((one) => one.zone === 'acme.example.') ?? exported[0]!;
    expect((await run('zone', 'export', zone)).stdout).toBe(readFileSync(file, 'utf8'));
  });
});

describe('a signed zone', () => {
  const apex = 'signed.example.';
  const now = Math.floor(Date.now() / 1000);
  const time = { inception: now - 3600, expiration: now + 30 * 86_400 };
  const key = makeKey(13);
  const text = [
    '@ 60 SOA ns h 7 2 3 4 30',
    '@ 60 NS ns',
    'ns 30 A 192.0.2.1',
    'a.b 20 TXT x',
    'cut 60 NS ns',
  ].join('\n');
  const hashed = { kind: 'nsec3', iterations: 5, salt: Uint8Array.of(1, 2), optOut: false } as const;
  const write = (denial: DenialStyle) =>
    folder.write('signed.zone', signZoneText({ apex, text }, key, time, denial).text);

  it.each<[string, DenialStyle, number]>([
    ['NSEC', { kind: 'nsec' }, 19],
    ['NSEC3', hashed, 23],
  ])('with %s loads and exports as it is, with its serial', async (_, denial, records) => {
    const loaded = await run('zone', 'load', write(denial));
    expect(loaded).toMatchObject({ code: 0, stderr: '' });
    expect(loaded.stdout).toMatch(new RegExp(`^loaded signed\\.example\\. version \\d+ records ${records} `));
    const exported = join(folder.path, 'exported');
    expect(await run('zone', 'export', apex, '--output', exported)).toMatchObject({ code: 0 });
    expect(readFileSync(exported, 'utf8')).toMatch(/\b7 +; serial$/m);
    const again = await run('zone', 'load', '--origin', apex, exported);
    expect(again.stdout).toMatch(/\(unchanged\)$/m);
    for (const [program, ...args] of VERIFIERS) {
      if (!isInstalled(program)) continue;
      const verified = spawnSync(program, [...args, exported], { encoding: 'utf8' });
      expect(verified.status, `${program}: ${verified.stdout}${verified.stderr}`).toBe(0);
    }
  });
});

/** Programs of others that verify all of a signed zone. */
const VERIFIERS = [['dnssec-verify', '-z', '-o', 'signed.example.'], ['ldns-verify-zone']] as const;
