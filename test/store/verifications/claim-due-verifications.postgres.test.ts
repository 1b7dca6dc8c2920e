// Which domains are claimed for a verification: those that are due, each by one process, the accounts in turn.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { addSlotTime } from '../../../src/store/checks/check-shares.ts';
import { claimDueVerifications } from '../../../src/store/verifications/claim-due-verifications.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let ids: number[];
beforeEach(async () => {
  const accountId = await newAccount(database.db, 'me@example.org');
  ids = [];
  for (const label of ['a', 'b', 'c']) {
    ids.push((await newDomain(database.db, accountId, `${label}.com.`, { dnsMode: 'external' })).id);
  }
});

const dueAgo = (id: number, seconds: number) =>
  sql`update domain_verifications set due_at = now() - make_interval(secs => ${seconds}), next_at = due_at
    where domain_id = ${id}`.execute(database.db);
const claim = async (limit = 10) =>
  (await claimDueVerifications(database.db, { limit })).rows.map(({ id }) => id);

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

describe('the turns of accounts', () => {
  /** An account with so many due domains, those of `ids` being of another one. */
  async function another(account: string, count: number): Promise<{ accountId: number; ids: number[] }> {
    const accountId = await newAccount(database.db, `${account}@example.org`);
    const own: number[] = [];
    for (let i = 0; i < count; i++)
      own.push((await newDomain(database.db, accountId, `${account}${i}.net.`, { dnsMode: 'external' })).id);
    for (const [i, id] of own.entries()) await dueAgo(id, 1000 - i);
    return { accountId, ids: own };
  }

  test('one with many domains, all due for long, makes no other wait: each has its first before anybody’s second', async () => {
    const bulk = await another('bulk', 6);
    const [a, b] = ids as [number, number];
    await dueAgo(a, 2);
    await dueAgo(b, 1);
    expect(await claim(4)).toEqual([a, bulk.ids[0], b, bulk.ids[1]]);
    expect(await claim(4)).toEqual(bulk.ids.slice(2));
  });

  test('those that have used much of the workers come last, and not at all while only light ones are wanted', async () => {
    const bulk = await another('bulk', 3);
    const mid = await another('mid', 1);
    await addSlotTime(database.db, [
      { accountId: bulk.accountId, slotMs: 60_000 },
      { accountId: mid.accountId, slotMs: 1000 },
    ]);
    const [a, b, c] = ids as [number, number, number];
    for (const id of ids) await dueAgo(id, 1);
    const light = await claimDueVerifications(database.db, { limit: 2, lightOnly: true });
    expect(light.rows).toEqual([
      { id: a, slotMs: 0 },
      { id: mid.ids[0], slotMs: expect.closeTo(1000, -2) },
    ]);
    expect(await claim(10)).toEqual([b, c, ...bulk.ids]);
    expect((await claimDueVerifications(database.db, { limit: 2, lightOnly: true })).rows).toEqual([]);
  });

  test('a round goes on behind the account where the last one ended', async () => {
    const bulk = await another('bulk', 1);
    for (const id of ids) await dueAgo(id, 5);
    const { rows } = await sql<{ first: number }>`
      select min(account_id) as first from domain_verifications`.execute(database.db);
    const { rows: claimed } = await claimDueVerifications(database.db, { limit: 10, after: rows[0]?.first });
    expect(claimed.map(({ id }) => id)).toEqual(bulk.ids);
  });
});
