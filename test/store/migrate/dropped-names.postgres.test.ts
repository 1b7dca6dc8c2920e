// Settings that drop nameserver names which are in use.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { accountNameserverSet } from '../../../src/store/nameservers/pool-sets.ts';
import { type AnswerSettings, loadPublishSettings } from '../../../src/store/postgres/answer-settings.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const SETS = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];
const WITH_POOL: AnswerSettings = {
  ...TEST_SETTINGS,
  nameserverSets: SETS,
  nameserverPool: [['ns1.a.example.'], ['ns[1-9].b.example.']],
  nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
};
const WITHOUT_POOL: AnswerSettings = { ...TEST_SETTINGS, nameserverSets: SETS };

const { db, query } = sharedDatabase();

beforeEach(async () => {
  await migrate(db, WITH_POOL);
});

const changedBy = async (settings: AnswerSettings, force = false) =>
  (await migrate(db, settings, { force })).changed;
const REFUSED = /^the settings drop nameserver names that are in use: /;

test('that nobody has are dropped without a word', async () => {
  expect(await changedBy({ ...TEST_SETTINGS })).toEqual([
    'NAMESERVER_SETS',
    'NAMESERVER_POOL',
    'NAMESERVER_ADDRESSES',
  ]);
});

test('of an account’s set are refused, and stored when it is forced', async () => {
  await db.transaction().execute((trx) => accountNameserverSet(trx, 17));
  await expect(migrate(db, WITHOUT_POOL)).rejects.toThrow(REFUSED);
  await expect(migrate(db, WITHOUT_POOL)).rejects.toThrow(
    'ns1.a.example is in the set of account 17 (2 uses of this kind)',
  );
  expect((await loadPublishSettings(db)).pool?.lists[1]).toHaveLength(9);
  expect(await changedBy(WITHOUT_POOL, true)).toEqual(['NAMESERVER_POOL', 'NAMESERVER_ADDRESSES']);
});

test('may move from a list to another, or to a set', async () => {
  await db.transaction().execute((trx) => accountNameserverSet(trx, 17));
  const names = [['ns1.a.example.', 'ns[1-9].b.example.'], ['other.example.']];
  expect(await changedBy({ ...WITH_POOL, nameserverPool: names })).toEqual(['NAMESERVER_POOL']);
});

test.each(['delegated_ns', 'chosen_ns'])('in %s of a domain that is served are refused', async (column) => {
  const { id } = await newDomain(db, await newAccount(db, 'a@example.org'), 'held.example.com.');
  const set = ['ns1.example.org.', 'ns2.example.org.'];
  await query`update domains set ${sql.ref(column)} = ${set}::text[] where id = ${id}`;
  const dropped = { ...WITH_POOL, nameserverSets: SETS.slice(0, 1) };
  await expect(migrate(db, dropped)).rejects.toThrow(/ns1\.example\.org is in the set .*held\.example\.com/);
  await query`update domains set status = 'disabled', disabled_by = 'checker', served = 'none' where id = ${id}`;
  expect(await changedBy(dropped)).toEqual(['NAMESERVER_SETS']);
});

test('a pool that changes publishes no domain anew', async () => {
  await newDomain(db, await newAccount(db, 'a@example.org'));
  const before = (await loadPublishSettings(db)).generation;
  const wider = [['ns[1-2].a.example.'], ['ns[1-9].b.example.']];
  expect(await migrate(db, { ...WITH_POOL, nameserverPool: wider })).toMatchObject({
    changed: ['NAMESERVER_POOL'],
    zones: 0,
  });
  expect((await loadPublishSettings(db)).generation).toBe(before);
});
