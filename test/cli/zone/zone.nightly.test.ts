// The zone commands as separate processes: standard input, pipes and signals.

import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { publishDatabaseUrl } from '../../../src/store/postgres/database-url.ts';
import { CLI, runCli } from '../../support/cli/run-cli.ts';
import { listZones } from '../../support/database/list-zones.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { startTransferPeer } from '../../support/peers/transfer-peers.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../../support/zone/zone-folder.ts';

const { db, url } = keptDatabase();
let folder: ZoneFolder;

beforeAll(async () => {
  folder = makeZoneFolder();
});
afterAll(async () => {
  folder.remove();
});

describe('standard input', () => {
  it('contains keys to revoke, which are not printed', async () => {
    const account = await createAccount(db, { email: 'ann@shop.example' });
    if (account.kind !== 'created') throw new Error(account.message);
    const [key, unknown] = [generateKey(), `svc_${'0'.repeat(40)}`];
    await createApiKey(db, key, { accountId: account.account.id, name: 'ci' });
    const told = await runCli(['key', 'revoke', '-'], {
      databaseUrl: url,
      input: `${key}\n\n${unknown}`,
    });
    expect(told).toEqual({
      code: 1,
      stdout: `revoked key ${key.slice(0, 10)}…\n`,
      stderr: 'svc_000000…: no such key\n',
    });
    const empty = await runCli(['key', 'revoke', '-'], { databaseUrl: url });
    expect(empty).toEqual({ code: 1, stdout: '', stderr: '-: standard input contains no key\n' });
  });

  it('contains a zone file, named by its SOA or --origin; its problems have the file name -', async () => {
    const { code, stdout } = await runCli(['zone', 'load', '-'], {
      databaseUrl: url,
      input: smallZone('input.example.'),
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^loaded input\.example\. version \d+ records 3 \(created\)\n/);
    const text = '$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A nowhere\n';
    const checked = await runCli(['zone', 'check', '-', '--origin', 'Input.Example'], { input: text });
    expect(checked.code).toBe(1);
    expect(checked.stderr).toMatch(/^-:4:6: address: /);
  });
});

const isPresent = isInstalled('nsd');
it.skipIf(!isPresent)(
  `zone import transfers from NSD with a key that is read from standard input${isPresent ? '' : ' (skipped: needs nsd)'}`,
  async () => {
    const secret = Buffer.alloc(32, 7).toString('base64');
    const nsd = await startTransferPeer('nsd', {
      zones: ['moved.example'],
      primary: undefined,
      key: { name: 'key', algorithm: 'hmac-sha256', secret },
      files: { 'moved.example.zone': smallZone('moved.example.') },
    });
    try {
      const args = ['zone', 'import', 'moved.example', '--from', `127.0.0.1:${nsd.port}`, '--key-file', '-'];
      const options = { databaseUrl: url, input: `hmac-sha256:key:${secret}` };
      await until(async () => (await runCli(args, options)).code === 0, 'the zone is imported');
      const { stdout, stderr } = await runCli(args, options);
      expect([stdout.split('\n')[1], stderr]).toEqual([
        expect.stringMatching(/^loaded moved\.example\. version \d+ records 3 \(unchanged\)$/),
        '',
      ]);
      const wrong = await runCli(args, { ...options, input: `hmac-sha256:other:${secret}` });
      expect([wrong.code, wrong.stderr]).toEqual([
        1,
        expect.stringMatching(/: the server answered NOTAUTH .*BADKEY/),
      ]);
      const both = await runCli([...args, '--key', 'x'], options);
      expect([both.code, both.stderr]).toEqual([2, 'zonefleet: give --key or --key-file\n']);
    } finally {
      await nsd.stop();
    }
  },
);

it('without DATABASE_URL, the CLI uses the npm start that runs on DATA_DIR', async () => {
  publishDatabaseUrl(folder.path, url, folder.path); // written by npm start, whose process is this test
  const file = folder.write('joined.zone', smallZone('joined.example.'));
  const { code, stdout } = await runCli(['zone', 'load', file], { dataDirectory: folder.path });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^loaded joined\.example\./);
});

it('a reader that closes the pipe ends an export silently', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => `host${i} TXT "${'x'.repeat(100)}"\n`).join('');
  const file = folder.write('large.zone', smallZone('large.example.', many));
  await runCli(['zone', 'load', file], { databaseUrl: url });
  const child = spawn(
    'sh',
    ['-c', `"${process.execPath}" "${CLI}" zone export large.example | head -n 1; echo done`],
    {
      env: { PATH: process.env.PATH, DATABASE_URL: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let words = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (words += text));
  await new Promise((resolve) => child.on('close', resolve));
  expect(words).toBe('$ORIGIN large.example.\ndone\n');
});

it('Ctrl-C ends a load between two transactions, and exactly the printed zones are stored', async () => {
  const many = makeZoneFolder();
  for (let i = 0; i < 3000; i++) many.write(`${i}.zone`, smallZone(`i${i}.example.`));
  let sent = false;
  const { code, stdout } = await runCli(['zone', 'load', '--json', many.path], {
    databaseUrl: url,
    onOutput: (text) => {
      if (sent || !text.includes('"created"')) return undefined;
      sent = true;
      return 'SIGINT';
    },
  });
  many.remove();
  expect(code).toBe(130);
  const { files, summary } = JSON.parse(stdout);
  expect(summary.complete).toBe(false);
  expect(summary.created).toBeLessThan(3000);
  const said = files.map(({ zone }: { zone: string }) => zone).sort();
  const stored = (await listZones(db)).map(({ apex }) => printName(apex)).filter((zone) => /^i\d/.test(zone));
  expect(said).toEqual(stored.sort());
  expect(said).toHaveLength(summary.created);
});
