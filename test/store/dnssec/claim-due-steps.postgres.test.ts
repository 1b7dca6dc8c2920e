// Which key machines are looked at next: those that are due, each by one process, the accounts in turn.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addSlotTime } from '../../../src/store/checks/check-shares.ts';
import { claimDueSteps } from '../../../src/store/dnssec/claim-due-steps.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

/** An account whose so many signed domains are due, the first one for the longest. */
async function accountWith(count: number, label: string): Promise<{ accountId: number; ids: number[] }> {
  const accountId = await newAccount(database.db, `${label}@example.org`);
  const ids: number[] = [];
  for (let i = 0; i < count; i++) {
    const domain = await newDomain(database.db, accountId, `${label}${i}.net.`, {});
    const { rows } = await sql<{ id: number }>`
      insert into signed_zones (domain_id, account_id, goal, denial, algorithm, phase, machine, due_at)
      values (${domain.id}, ${accountId}, 'signed', 'nsec', 13, 'waiting', '{}', now() - make_interval(secs => ${1000 - i}))
      returning id`.execute(database.db);
    ids.push(rows[0]?.id as number);
  }
  return { accountId, ids };
}

const claim = async (more: object = {}) =>
  (await claimDueSteps(database.db, { limit: 10, ...more })).rows.map(({ id }) => id);

test('an account with many makes no other wait: each has its first before anybody’s second', async () => {
  const bulk = await accountWith(5, 'bulk');
  const { ids } = await accountWith(1, 'one');
  expect(await claim({ limit: 2 })).toEqual([bulk.ids[0], ids[0]]);
  expect(await claim()).toEqual(bulk.ids.slice(1));
  expect(await claim()).toEqual([]); // each is leased
});

test('an account that has used much of the workers comes last, and not while the queue is full', async () => {
  const bulk = await accountWith(2, 'bulk');
  const { ids } = await accountWith(2, 'one');
  await addSlotTime(database.db, [{ accountId: bulk.accountId, slotMs: 600_000 }]);
  expect(await claim({ lightOnly: true, limit: 1 })).toEqual([ids[0]]);
  expect(await claim()).toEqual([ids[1], ...bulk.ids]);
});

test('what is not due, or has no machine, is not looked at; a domain takes its turn to another account', async () => {
  const [later, without] = (await accountWith(2, 'bulk')).ids;
  const { db } = database;
  await sql`update signed_zones set due_at = now() + interval '1 hour' where id = ${later}`.execute(db);
  await sql`update signed_zones set machine = null where id = ${without}`.execute(db);
  expect(await claim()).toEqual([]);
  const other = await newAccount(db, 'other@example.org');
  await sql`update domains set account_id = ${other} where name = 'bulk0.net.'`.execute(db);
  const { rows } = await sql<{ account: number }>`
    select account_id as account from signed_zones where id = ${later}`.execute(db);
  expect(rows).toEqual([{ account: other }]);
});
