// What owners ask for is one change of the domain, and refused where it could not be done.

import { sql } from 'kysely';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import {
  abortDnssec,
  type ChangedGoal,
  disableDnssec,
  enableDnssec,
  rollDnssec,
} from '../../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let db: Database;
beforeAll(() => {
  ({ db } = database);
});
let domainId: number;
let accountId: number;

beforeEach(async () => {
  useSecrets(db);
  accountId = await newAccount(db, 'a@example.org');
  domainId = (await newDomain(db, accountId)).id;
});

const order = () => ({ ...BY, domainId });
const refusal = (result: ChangedGoal) => (result.kind === 'refused' ? result.code : result.kind);
const loggedChanges = async () => {
  const { rows } = await sql<{ id: number; operation: string; action: string }>`
    select c.id, c.operation, a.action from domain_changes c join audit_log a on a.change_id = c.id
    where c.operation = 'dnssec' order by c.id`.execute(db);
  return rows;
};

test('a domain that is enabled has a key of its own, which no record shows yet, and a change in its log', async () => {
  const result = await enableDnssec(db, order());
  expect(await loggedChanges()).toEqual([
    { id: (result as { changeId: number }).changeId, operation: 'dnssec', action: 'domain.dnssec' },
  ]);
  const stored = await loadDnssec(db, domainId);
  expect(stored?.keys).toMatchObject([
    { role: 'csk', algorithm: 13, flags: 257, signs: 'none', publishedAt: null },
  ]);
  expect(stored?.signed).toMatchObject({ goal: 'signed', denial: 'nsec', phase: 'off', keys: [] });
  expect(stored?.machine).toMatchObject({ goal: 'signed', serving: { keys: [] } });
  expect(stored?.dueAt).not.toBeNull();
  expect(await enableDnssec(db, order())).toEqual({ kind: 'updated' });
  expect(refusal(await enableDnssec(db, { ...order(), denial: 'nsec3' }))).toBe('dnssec_busy');
  expect(await loggedChanges()).toHaveLength(1);
});

test('what is enabled again after it was given up has the keys of before; with another algorithm it has others', async () => {
  await enableDnssec(db, { ...order(), split: true });
  const first = await loadDnssec(db, domainId);
  expect(first?.keys.map(({ role }) => role)).toEqual(['ksk', 'zsk']);
  expect((await disableDnssec(db, order())).kind).toBe('updated');
  await enableDnssec(db, order());
  expect((await loadDnssec(db, domainId))?.keys).toEqual(first?.keys);
  await abortDnssec(db, order());
  expect((await loadDnssec(db, domainId))?.machine?.goal).toBe('unsigned');
  await enableDnssec(db, { ...order(), algorithm: 15 });
  const keys = (await loadDnssec(db, domainId))?.keys ?? [];
  expect(keys.map(({ algorithm }) => algorithm)).toEqual([13, 13, 15, 15]);
  expect(new Set(keys.map(({ tag }) => tag)).size).toBe(4);
});

test('keys are not rolled before the zone is signed with those of before, and the new ones are gone again then', async () => {
  expect(refusal(await rollDnssec(db, { ...order(), compromised: false }))).toBe('wrong_state');
  expect(refusal(await abortDnssec(db, order()))).toBe('wrong_state');
  expect(await disableDnssec(db, order())).toEqual({ kind: 'updated' });
  await enableDnssec(db, order());
  expect(refusal(await rollDnssec(db, { ...order(), compromised: false }))).toBe('dnssec_busy');
  expect((await loadDnssec(db, domainId))?.keys).toHaveLength(1);
});

test('keys of another algorithm, or one in place of two, come with a rollover; who gives up has the ways of before', async () => {
  const compromised = true; // also while something is under way
  await enableDnssec(db, { ...order(), split: true });
  expect(refusal(await rollDnssec(db, { ...order(), compromised, algorithm: 15 }))).toBe('updated');
  let stored = await loadDnssec(db, domainId);
  expect(stored?.signed).toMatchObject({ algorithm: 15, split: true });
  expect(stored?.keys.slice(2)).toMatchObject([
    { role: 'ksk', algorithm: 15 },
    { role: 'zsk', algorithm: 15 },
  ]);
  expect(refusal(await rollDnssec(db, { ...order(), compromised, split: false }))).toBe('updated');
  stored = await loadDnssec(db, domainId);
  expect(stored?.signed).toMatchObject({ algorithm: 15, split: false });
  expect(stored?.keys.at(-1)).toMatchObject({ role: 'csk', algorithm: 15 });
  await abortDnssec(db, order());
  expect((await loadDnssec(db, domainId))?.signed).toMatchObject({ algorithm: 15, split: true });
});

test('a domain whose DNS is elsewhere, one that is disabled, and one of another account are refused', async () => {
  const other = await newDomain(db, accountId, 'example.net.', { dnsMode: 'external' });
  expect(refusal(await enableDnssec(db, { ...BY, domainId: other.id }))).toBe('wrong_state');
  await changeStatus(db, { ...order(), event: 'disable', exempt: true });
  expect(refusal(await enableDnssec(db, order()))).toBe('wrong_state');
  expect(refusal(await enableDnssec(db, { ...order(), ownerId: accountId + 1 }))).toBe('absent');
});

test('without secrets, or with a node that is too old, nothing is written', async () => {
  const { db, url } = database;
  const without = openDatabase(url);
  try {
    expect(await enableDnssec(without, order())).toMatchObject({
      code: 'dnssec_unavailable',
      retryAfterSeconds: 600,
    });
  } finally {
    await without.destroy();
  }
  await sql`
    insert into nodes (name, instance, started_at, loaded, zones, records)
    values ('old', gen_random_uuid(), clock_timestamp(), true, 0, 0)`.execute(db);
  expect(refusal(await enableDnssec(db, order()))).toBe('dnssec_unavailable');
  expect(await loadDnssec(db, domainId)).toBeUndefined();
});

test('keys are made so often a day, and no more', async () => {
  await enableDnssec(db, order());
  for (let made = 1; made < 12; made++) {
    expect(refusal(await rollDnssec(db, { ...order(), compromised: true }))).toBe('updated');
  }
  expect(refusal(await rollDnssec(db, { ...order(), compromised: true }))).toBe('dnssec_busy');
  expect((await loadDnssec(db, domainId))?.keys).toHaveLength(12);
  await disableDnssec(db, order());
  expect(refusal(await enableDnssec(db, { ...order(), algorithm: 15 }))).toBe('dnssec_busy');
  expect((await loadDnssec(db, domainId))?.machine?.goal).toBe('unsigned');
});
