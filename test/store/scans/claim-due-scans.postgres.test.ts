// Which scans are claimed: those that are due, each by one process, the accounts in turn.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openBackgroundScan } from '../../../src/store/change/open-scan.ts';
import { claimDueScans, countScansInHand } from '../../../src/store/scans/claim-due-scans.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

/** Of an account of its own: as many scans, the first due so many seconds ago, each a second later than the one before. */
async function scansOf(account: string, count: number, sinceSeconds: number): Promise<string[]> {
  const { db } = database;
  const accountId = await newAccount(db, `${account}@example.org`);
  const names = Array.from({ length: count }, (_, i) => `${account}${i}.com.`);
  for (const [i, name] of names.entries()) {
    const { id } = await newDomain(db, accountId, name);
    await openBackgroundScan(db, id, BY.by);
    await sql`
      update scans set due_at = now() - make_interval(secs => ${sinceSeconds - i}) where domain_id = ${id}`.execute(
      db,
    );
  }
  return names;
}

async function claim(limit = 10): Promise<string[]> {
  const ids = (await claimDueScans(database.db, limit)).map(({ scanId }) => scanId);
  const { rows } = await sql<{ name: string }>`
    select d.name from scans s join domains d on d.id = s.domain_id where s.id = any(${ids})`.execute(
    database.db,
  );
  return rows.map(({ name }) => name).sort();
}

test('an account with many domains does not delay others, and each account gets its longest due first', async () => {
  await scansOf('bulk', 8, 1000);
  await scansOf('late', 2, 100);
  await scansOf('last', 1, 50);
  expect(await claim(4)).toEqual(['bulk0.com.', 'bulk1.com.', 'last0.com.', 'late0.com.']);
  expect(await claim(4)).toEqual(['bulk2.com.', 'bulk3.com.', 'bulk4.com.', 'late1.com.']);
  expect(await claim(4)).toEqual(['bulk5.com.', 'bulk6.com.', 'bulk7.com.']);
  expect(await claim(4)).toEqual([]);
});

test('also where one is claimed at a time, and of a new account at once', async () => {
  await scansOf('bulk', 8, 1000);
  expect([await claim(1), await claim(1)]).toEqual([['bulk0.com.'], ['bulk1.com.']]);
  await scansOf('late', 3, 10);
  const claimed = [];
  for (let i = 0; i < 5; i++) claimed.push(...(await claim(1)));
  expect(claimed).toEqual(['late0.com.', 'late1.com.', 'bulk2.com.', 'late2.com.', 'bulk3.com.']);
});

test('what is not yet due, over or in hand is left, and comes up again when its lease is over', async () => {
  const [now, later, over] = (await scansOf('a', 3, 10)) as [string, string, string];
  const at = (name: string, change: ReturnType<typeof sql>) =>
    sql`update scans s set ${change} from domains d where d.id = s.domain_id and d.name = ${name}`.execute(
      database.db,
    );
  await at(later, sql`due_at = now() + interval '1 minute'`);
  await at(over, sql`due_at = null, finished_at = now()`);
  expect(await claim()).toEqual([now]);
  expect(await claim()).toEqual([]);
  await at(now, sql`due_at = now()`);
  expect(await claim()).toEqual([now]);
});

test('of processes that claim at once none gets what another has', async () => {
  const names = await scansOf('a', 6, 10);
  const claimed = await Promise.all([claim(3), claim(3), claim(3)]);
  while (claimed.flat().length < names.length) claimed.push(await claim(3));
  expect(claimed.flat().sort()).toEqual(names);
});

test('a scan’s turn is its place among those of its account that wait or run', async () => {
  await scansOf('bulk', 3, 1000);
  await scansOf('late', 1, 10);
  const turns = async (limit: number) =>
    (await claimDueScans(database.db, limit)).map(({ turn }) => turn).sort();
  expect(await turns(2)).toEqual([2, 2]);
  expect(await turns(10)).toEqual([4, 6]);
  const { rows } = await sql<{
    id: number;
  }>`select id from accounts where email = 'bulk@example.org'`.execute(database.db);
  expect(await countScansInHand(database.db, rows[0]?.id as number)).toBe(3);
});
