import { createSocket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addScanCommand } from '../../../src/cli/scan/scan.ts';
import type { CliSettings } from '../../../src/cli/terminal/cli.ts';
import { INTERRUPTED } from '../../../src/cli/terminal/output.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url } = keptDatabase();
let folder: string;
let silent: ReturnType<typeof createSocket>;
let settings: Partial<CliSettings>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zonefleet-hints-'));
  silent = createSocket('udp4');
  await new Promise<void>((done) => silent.bind(0, '127.0.0.78', done));
  await writeFile(join(folder, 'hints'), '. 3600 NS silent.root.\nsilent.root. 3600 A 127.0.0.78\n');
  settings = { rootHints: join(folder, 'hints'), dnsPortOut: silent.address().port };
});
afterAll(async () => {
  silent?.close();
  await rm(folder, { recursive: true });
});

const scan = (more: Parameters<typeof runCommands>[3], ...args: string[]) =>
  runCommands(addScanCommand, ['scan', 'shop.test', ...args], undefined, { ...settings, ...more });

describe('scan', () => {
  it('prints the reason if it finds nothing, and exits with 1', async () => {
    const { code, stdout } = await scan({});
    expect(code).toBe(1);
    const head = 'shop\\.test {2}not complete, 0 records \\(0 names, 0 packets, \\d\\.\\d s\\)';
    expect(stdout).toMatch(new RegExp(`^${head}\n {2}no server of \\. has an address`));
    const { stdout: json } = await scan({}, '--json');
    expect(JSON.parse(json)).toMatchObject({
      domain: 'shop.test',
      complete: false,
      shortfalls: expect.arrayContaining([expect.stringMatching(/^no server of/)]),
      records: [],
    });
  });

  it('ends immediately when interrupted, and exits with 2 on wrong usage', async () => {
    const asked = new Promise((done) => silent.once('message', done));
    const stop = new AbortController();
    const coming = scan({ resolverAllow: ['127.0.0.0/8'], interrupt: stop.signal });
    await asked;
    stop.abort();
    expect(await coming).toEqual({ code: INTERRUPTED, stdout: '', stderr: '' });
    for (const args of [['scan'], ['scan', '.'], ['scan', 'a..b'], ['scan', 'shop.test', 'more.test']])
      expect((await runCommands(addScanCommand, args, url)).code).toBe(2);
  });
});

it('scan --import of an unknown domain is refused before any query', async () => {
  await newDomain(db, await newAccount(db, 'a@example.org'), 'other.org.');
  const run = await runCommands(addScanCommand, ['scan', 'shop.test', '--import'], url);
  expect(run).toEqual({ code: 1, stdout: '', stderr: 'shop.test: no such domain\n' });
  const args = ['scan', 'shop.test', '--import', '--json'];
  expect(JSON.parse((await runCommands(addScanCommand, args, url)).stdout)).toMatchObject({
    outcome: 'refused',
    code: 'absent',
  });
});
