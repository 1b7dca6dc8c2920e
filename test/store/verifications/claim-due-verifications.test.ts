// Which domains are claimed for a verification: those that are due, each by one process.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimDueVerifications } from '../../../src/store/verifications/claim-due-verifications.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';

let database: TestDatabase;
let ids: number[];
beforeEach(async () => {
  database = await createDatabase();
  const accountId = await newAccount(database.db, 'me@example.org');
  ids = [];
  for (const label of ['a', 'b', 'c']) {
    ids.push((await newDomain(database.db, accountId, `${label}.com.`, { dnsMode: 'external' })).id);
  }
});
afterEach(() => database.drop());

const dueAgo = (id: number, seconds: number) =>
  sql`update domain_verifications set due_at = now() - make_interval(secs => ${seconds}), next_at = due_at
    where domain_id = ${id}`.execute(database.db);
const claim = async (limit = 10) =>
  (await claimDueVerifications(database.db, limit)).map(({ domainId }) => domainId);

test('a fresh value is looked for after a minute, not at once', async () => {
  expect(await claim()).toEqual([]);
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from due_at - started_at)::int as seconds from domain_verifications`.execute(
    database.db,
  );
  expect(rows.map(({ seconds }) => seconds)).toEqual([60, 60, 60]);
});

test('the longest due first, and none twice until the lease is over; what was planned stays as it is', async () => {
  const [a, b, c] = ids as [number, number, number];
  await dueAgo(a, 10);
  await dueAgo(b, 30);
  await dueAgo(c, 20);
  const planned = () =>
    sql`select domain_id, next_at from domain_verifications order by 1`.execute(database.db);
  const before = await planned();
  expect((await claim(2)).sort()).toEqual([b, c].sort());
  expect(await claim()).toEqual([a]);
  expect(await claim()).toEqual([]);
  expect((await planned()).rows).toEqual(before.rows);
});

test('of processes that claim at once each gets others', async () => {
  for (const id of ids) await dueAgo(id, 10);
  const claimed = await Promise.all([claim(2), claim(2), claim(2)]);
  expect(claimed.flat().sort()).toEqual([...ids].sort());
});

test('only what is to be proved is due', async () => {
  for (const id of ids) await dueAgo(id, 10);
  await sql`update domains set status = 'active' where id = ${ids[0]}`.execute(database.db);
  await sql`update domains set dns_mode = 'managed' where id = ${ids[1]}`.execute(database.db);
  await sql`update domains set deleted_at = now(), zone_id = null where id = ${ids[2]}`.execute(database.db);
  expect(await claim()).toEqual([]);
});
