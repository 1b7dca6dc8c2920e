import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { hastenNames, hastenWaiting } from '../../../src/store/checks/hasten-checks.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let db: Database;
let id: number;
beforeEach(async () => {
  ({ db } = database);
  ({ id } = await newDomain(db, await newAccount(db, 'a@example.org')));
});

/** In `seconds`; `status` and `misses` as given. */
async function plan(seconds: number, status = 'pending', misses = 0): Promise<void> {
  await sql`update domains set status = ${status} where id = ${id}`.execute(db);
  const at = sql`now() + make_interval(secs => ${seconds})`;
  await sql`update domain_checks set due_at = ${at}, next_at = ${at}, miss_count = ${misses}
    where domain_id = ${id}`.execute(db);
}

/** Whether the next check comes within these seconds. */
async function comesWithin(seconds: number): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select next_at <= now() + make_interval(secs => ${seconds}) and due_at = next_at as is
    from domain_checks where domain_id = ${id}`.execute(db);
  return rows[0]?.is === true;
}

it.each([
  ['pending', 0, true],
  ['moved', 0, true],
  ['active', 1, true],
  ['active', 0, false],
])('a domain that is %s with %i misses: hastened %s', async (status, misses, isHastened) => {
  await plan(3600, status, misses);
  await hastenWaiting(db, 45);
  expect(await comesWithin(45)).toBe(isHastened);
});

it('one by its name is hastened whatever it is, and no other', async () => {
  const { rows } = await sql<{ name: string }>`select name from domains where id = ${id}`.execute(db);
  await plan(3600, 'active');
  await hastenNames(db, ['other.test.'], 15);
  expect(await comesWithin(3599)).toBe(false);
  await hastenNames(db, [rows[0]?.name ?? ''], 15);
  expect(await comesWithin(15)).toBe(true);
});

it('a check that comes sooner, waits in the queue or is under way is left alone', async () => {
  await plan(10);
  await hastenWaiting(db, 45);
  expect(await comesWithin(10)).toBe(true);
  await sql`update domain_checks set due_at = now() + interval '1 hour', next_at = now() - interval '1 s'`.execute(
    db,
  );
  await hastenWaiting(db, 45);
  const { rows } =
    await sql`select 1 from domain_checks where next_at < now() and due_at > now() + interval '50 min'`.execute(
      db,
    );
  expect(rows).toHaveLength(1);
});
