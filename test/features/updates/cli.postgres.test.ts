import { beforeAll, expect, it } from 'vitest';
import { addZoneCommands } from '../../../src/cli/zone/zone.ts';
import { parseName } from '../../../src/dns/name.ts';
import { addTransferCommands } from '../../../src/features/transfers/cli.ts';
import { addUpdateCommands } from '../../../src/features/updates/cli.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, column } = keptDatabase();
const tsigSecrets = [{ name: 'test', secret: Buffer.alloc(32, 9) }];
const run = (command: string) =>
  runCommands(
    (program, cli) => {
      addZoneCommands(program, cli);
      addTransferCommands(program, cli);
      addUpdateCommands(program, cli);
    },
    command.split(' '),
    url,
    { tsigSecrets },
  );
const json = async (command: string) => JSON.parse((await run(`${command} --json`)).stdout);
let key: string;

beforeAll(async () => {
  await newDomain(db, await newAccount(db, 'ann@example.com'), 'shop.com.');
  const zones = ['test.', 'op.test.', '.'].map((name) => ({
    apex: parseName(name),
    records: recordsOf('@ SOA a. b. 1 1 1 1 1\n@ NS a.', name),
  }));
  await saveZones(db, zones, { source: 'test' });
  key = (await json('tsig create acme')).name;
});

it('allows names in the longest zone or domain that contains them', async () => {
  const allowed = await run(
    `update allow ${key} _acme.Shop.com a.op.test. b.test x.root --types txt,TYPE65280 --match subtree`,
  );
  expect([allowed.code, allowed.stdout]).toEqual([
    0,
    'allowed _acme.shop.com.\nallowed a.op.test.\nallowed b.test.\nallowed x.root.\n',
  ]);
  expect((await run(`update allow ${key} _acme.shop.com --match subtree --origin`)).code).toBe(0);
  const grant = { key, match: 'subtree', types: ['TXT', 'TYPE65280'], edits_origin: false, account: null };
  const ofAnn = { account: 'ann@example.com', types: null, edits_origin: true };
  expect(await json('update list')).toEqual({
    grants: [
      { ...grant, name: 'a.op.test.', zone: 'op.test.' },
      { ...grant, name: 'b.test.', zone: 'test.' },
      { ...grant, name: 'x.root.', zone: '.' },
      { ...grant, name: '_acme.shop.com.', zone: 'shop.com.', ...ofAnn },
    ],
  });
  expect((await run('update list')).stdout).toMatch(
    /_acme\.shop\.com\. +subtree +all +yes +shop\.com\. +ann@example\.com/,
  );
  expect(await column`select distinct action from audit_log where action like 'update%'`).toEqual([
    'update.allow',
  ]);
});

it('replaces the grant of a key for a name', async () => {
  expect((await run(`update allow ${key} _acme.shop.com`)).code).toBe(0);
  expect(await column`select match from update_grants where owner = '_acme.shop.com.'`).toEqual(['exact']);
});

it('requires the account if several accounts have the domain', async () => {
  await newDomain(db, await newAccount(db, 'bob@example.com'), 'shop.com.');
  const refused = await run(`update allow ${key} www.shop.com`);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    'www.shop.com.: 2 accounts have shop.com.: choose one with --account: ann@example.com, bob@example.com\n',
  ]);
  expect((await run(`update allow ${key} www.shop.com --account bob@example.com`)).code).toBe(0);
  expect((await run(`update allow ${key} a.op.test --account bob@example.com`)).stderr).toBe(
    'a.op.test.: no domain of this account contains this name\n',
  );
  expect((await json('update list')).grants.at(-1)).toMatchObject({
    name: 'www.shop.com.',
    account: 'bob@example.com',
  });
  await query`update domains set deleted_at = now() where account_id = (select max(id) from accounts)`;
});

it('protects a key with grants from being revoked', async () => {
  expect((await run(`tsig revoke ${key}`)).stderr).toContain(': used by 4 grants; remove');
});

it('deletes the grants of a zone that is unloaded', async () => {
  await unloadZones(db, [parseName('test.'), parseName('.')], { source: 'test' });
  expect((await run(`update allow ${key} x.root`)).stderr).toBe(
    'x.root.: no operator zone or domain contains this name\n',
  );
  expect(await column`select owner from update_grants order by owner`).toEqual([
    '_acme.shop.com.',
    'a.op.test.',
  ]);
});

it.each([
  ['update allow none a.op.test', 1, 'no such key'],
  ['update allow KEY a.op.test --match below', 2, '--match: expected exact or subtree'],
  ['update allow KEY a.op.test --types A,,B', 2, '--types: "" is not a record type'],
  ['update revoke KEY c.op.test', 1, 'c.op.test.: the key has no grant for this name'],
  ['update revoke none', 1, 'none.: no such key'],
  ['update allow KEY a.op.test --types A,any', 2, '--types: no record has the type ANY'],
  ['update allow KEY a.op.test --types RRSIG', 2, '--types: RRSIG records are generated by the signer'],
  [
    'update allow KEY www.shop.com --types TXT,SOA',
    1,
    "SOA records cannot be changed in a customer's domain",
  ],
  ['update allow KEY op.test --types SOA', 0, ''],
  ['update revoke KEY op.test', 0, ''],
])('%s exits with %d', async (command, exitCode, message) => {
  const { code, stderr } = await run(command.replace('KEY', key));
  expect([code, stderr]).toEqual([exitCode, expect.stringContaining(message)]);
});

it('allows at most 50 grants in a zone', async () => {
  await query`
    insert into update_grants (key_id, zone_id, match, owner)
    select k.id, z.id, 'exact', n || '.op.test.' from tsig_keys k, zones z, generate_series(1, 49) n
    where z.name = 'op.test.'`;
  expect((await run(`update allow ${key} more.op.test`)).stderr).toContain('op.test. has 50 grants');
});

it('allows 50 grants in a domain in addition to those of its owner', async () => {
  await query`
    with k as (insert into tsig_keys (account_id, name, algorithm, use, wrap, sealed)
      select id, 'owner.', 'hmac-sha256', 'serve', 'x', '' from accounts where email like 'ann@%' returning id)
    insert into update_grants (key_id, domain_id, match, owner)
    select k.id, d.id, 'exact', n || '.shop.com.' from k, domains d, generate_series(1, 50) n
    where d.deleted_at is null`;
  expect((await run(`update allow ${key} more.shop.com`)).code).toBe(0);
});

it('revokes the named grants, or all grants of the key', async () => {
  expect((await run(`update revoke ${key} a.op.test`)).stdout).toBe('revoked a.op.test.\n');
  expect((await run(`update revoke ${key}`)).code).toBe(0);
  expect(await json('update list')).toEqual({ grants: [] });
  expect((await run(`tsig revoke ${key}`)).code).toBe(0);
});
