// Operators import and export the keys of zones and domains.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDnssecCommands } from '../../../src/cli/dnssec/dnssec.ts';
import { addZoneCommands } from '../../../src/cli/zone/zone.ts';
import { parseName } from '../../../src/dns/name.ts';
import { printPrivateKey } from '../../../src/zone/signing/private-key.ts';
import { makeKey } from '../../../src/zone/signing/signing-key.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { signatureFaults } from '../../support/database/signed-zones.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const keySecrets = [{ name: 'k1', secret: Buffer.alloc(32, 1) }];
const ZONE =
  '$ORIGIN op.test.\n$TTL 300\n@ SOA ns h 7 3600 600 86400 300\n@ NS ns.else.test.\nwww A 192.0.2.1\n';

const database = keptDatabase();
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-keys-'));
  await newDomain(database.db, await newAccount(database.db, 'ann@example.org'));
  writeFileSync(join(folder, 'op.test.zone'), ZONE);
  expect((await run('zone', 'load', join(folder, 'op.test.zone'))).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]) =>
  runCommands(
    (program, cli) => {
      addDnssecCommands(program, cli);
      addZoneCommands(program, cli);
    },
    args,
    database.url,
    { keySecrets },
  );
const importKey = (name: string, ...args: string[]) => run('dnssec', 'import-key', name, ...args);
const exportKey = (name: string, ...args: string[]) => run('dnssec', 'export-key', name, ...args);

function madeFile(name: string, flags: 256 | 257, algorithm: 13 | 15 = 13) {
  const key = makeKey(algorithm, flags);
  const path = join(folder, name);
  const text = printPrivateKey(key.dnskey, key.secret, 'bind');
  writeFileSync(path, text);
  return { ...key, path, text };
}

describe.each(['op.test', 'example.com'])('the keys of %s', (name) => {
  it('are imported once, and exported unchanged', async () => {
    const [ksk, zsk] = [madeFile('ksk', 257), madeFile('zsk', 256)];
    const { code, stdout } = await importKey(name, ksk.path, zsk.path, '--flags', '257', '256', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { zone: `${name}.`, outcome: 'imported', keys: [{ key_tag: ksk.tag }, { key_tag: zsk.tag }] },
    ]);
    expect((await importKey(name, zsk.path, ksk.path, '--flags', '256', '257')).code).toBe(0);
    const alone = await importKey(name, ksk.path, '--flags', '257');
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringMatching(/already signed|set "replace"/) });
    expect(await exportKey(name)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/it has 2 keys: give --key/),
    });
    const { keys } = JSON.parse((await exportKey(name, '--json')).stdout);
    expect(keys).toMatchObject([
      { role: 'ksk', key_tag: ksk.tag, private_key: ksk.text },
      { role: 'zsk', key_tag: zsk.tag, private_key: zsk.text },
    ]);
    const one = await exportKey(name, '--key', String(keys[1].id));
    expect(one).toMatchObject({ code: 0, stdout: zsk.text, stderr: '' });
    const pem = await exportKey(name, '--key', String(keys[1].id), '--format', 'pem');
    expect(pem.stdout).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const directory = join(folder, `out-${name}`);
    expect((await exportKey(name, '--directory', directory)).code).toBe(0);
    const tag = String(ksk.tag).padStart(5, '0');
    expect(readdirSync(directory)).toHaveLength(4);
    expect(readFileSync(join(directory, `K${name}.+013+${tag}.private`), 'utf8')).toBe(ksk.text);
    expect(statSync(join(directory, `K${name}.+013+${tag}.private`)).mode & 0o077).toBe(0);
    expect(await exportKey(name, '--directory', directory)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/K.*private: the file already exists/),
    });
  });

  it('are in the audit log by their tags, once for each successful export', async () => {
    const { rows } = await sql<{ after: object }>`
      select after from audit_log where action in ('domain.export_keys', 'zone.export_keys')
        and trim(trailing '.' from target_name) = ${name}`.execute(database.db);
    expect(rows.map(({ after }) => Object.keys(after).sort())).toEqual(
      Array.from({ length: rows.length }, () => ['format', 'key_tags']),
    );
    expect(rows).toHaveLength(4);
  });
});

it('zonefleet dnssec show prints whether the nameservers of a domain with imported keys may be changed', async () => {
  const accountId = await newAccount(database.db, 'bob@example.org');
  const { id } = await newDomain(database.db, accountId, 'moving.example.');
  await checkOnce(database.db, id, 'referral ns.else.test');
  const key = madeFile('moving', 257);
  expect((await importKey('moving.example', key.path, '--flags', '257')).code).toBe(0);
  expect((await run('dnssec', 'show', 'moving.example')).stdout).toMatch(
    /^ {2}FOREIGN_NS_WAIT: Do not change the nameservers yet: /m,
  );
  const { zones } = JSON.parse((await run('dnssec', 'show', 'moving.example', '--json')).stdout);
  const waits = [{ code: 'FOREIGN_NS_WAIT', severity: 'warning' }];
  expect(zones[0].findings).toMatchObject(waits);
  // Only an export after the move ends it.
  const findings = async () => {
    expect((await exportKey('moving.example')).code).toBe(0);
    await checkOnce(database.db, id, 'referral ns.else.test');
    return JSON.parse((await run('dnssec', 'show', 'moving.example', '--json')).stdout).zones[0].findings;
  };
  expect(await findings()).toMatchObject(waits);
  await checkOnce(database.db, id, 'referral ns1.example.net ns2.example.net');
  expect(await findings()).toEqual([]);
});

it('zonefleet dnssec export-key does not record an export that is refused', async () => {
  const { id } = await newDomain(
    database.db,
    await newAccount(database.db, 'eve@example.org'),
    'two.example.',
  );
  expect((await run('dnssec', 'enable', 'two.example', '--split')).code).toBe(0);
  const directory = join(folder, 'file');
  writeFileSync(directory, '');
  expect((await exportKey('two.example')).code).toBe(1);
  expect(await exportKey('two.example', '--directory', directory)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not a directory'),
  });
  expect(await exportKey('two.example', '--directory', '/proc/none')).toMatchObject({ code: 2 });
  const { rows } = await sql`
      select from signed_zones where domain_id = ${id} and machine::text like '%exported%'`.execute(
    database.db,
  );
  expect(rows).toEqual([]);
});

describe('zonefleet dnssec import-key', () => {
  it('replaces an imported key only with --replace, and if the parent has no DS of it', async () => {
    await newDomain(database.db, await newAccount(database.db, 'joe@example.org'), 'wrong.example.');
    const [first, second] = [madeFile('first', 257), madeFile('second', 257)];
    const imports = (key: typeof first, ...more: string[]) =>
      importKey('wrong.example', key.path, '--flags', '257', ...more);
    expect((await imports(first)).code).toBe(0);
    expect(await imports(second)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`already has the key with tag ${first.tag},.* set "replace"`)),
    });
    const refused = await imports(second, '--replace', '--json');
    expect(JSON.parse(refused.stdout)).toMatchObject({ outcome: 'refused', code: 'dnssec_busy' });
    await sql`
      update signed_zones set machine = jsonb_set(machine, '{parent,observedAt}', to_jsonb(${Date.now() + 60_000}::float8))
      where machine is not null`.execute(database.db);
    expect((await imports(second, '--replace')).code).toBe(0);
  });

  it('signs an operator zone with a valid signature for each set, and shows its DS', async () => {
    expect(await signatureFaults(database.db, parseName('op.test.'))).toEqual([]);
    expect((await run('dnssec', 'disable', 'op.test', '--now')).code).toBe(0);
    const csk = madeFile('csk', 257, 15);
    const { code, stdout } = await importKey('op.test', csk.path, '--flags', '257', '--denial', 'nsec3');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          `^imported op\\.test\\. key tag ${csk.tag} flags 257 algorithm 15\n  op\\.test\\. DS ${csk.tag} 15 2 `,
        ),
      ),
    ]);
    expect(await signatureFaults(database.db, parseName('op.test.'))).toEqual([]);
  });

  it('refuses a name that is not here, and keys that cannot sign, with exit code 1', async () => {
    const key = madeFile('other', 257);
    expect(await importKey('no.test', key.path, '--flags', '257')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no such domain/),
    });
    expect(await importKey('op.test', key.path, '--flags', '257', '--algorithm', '15')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/key 1: the private key has algorithm 13/),
    });
    expect(await importKey('op.test', key.path)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/give --flags/),
    });
    expect(await importKey('op.test', join(folder, 'nothing'))).toMatchObject({ code: 2 });
    expect(await exportKey('no.test')).toMatchObject({ code: 1 });
  });
});
