import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { runDebts } from '../../../workers/rounds/settle-debts.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

/** Until a round has done something. */
async function oneRound(graceDays: number) {
  const troubles: unknown[] = [];
  const settled = await new Promise<object>((resolve) => {
    const rounds = runDebts({
      db: database.db,
      graceDays,
      idleMs: 10,
      onSettled: (told) => void rounds.stop().then(() => resolve(told)),
      onTrouble: (error) => troubles.push(error),
    });
  });
  expect(troubles).toEqual([]);
  return settled;
}

it('rounds suspend and resume by the clock of Postgres, and tell what they did', async () => {
  const { db } = database;
  const accountId = await newAccount(db, 'a@example.org');
  const { id } = await newDomain(db, accountId);
  await sql`
    insert into wallets (account_id, balance_rials, negative_since)
    values (${accountId}, -1, clock_timestamp() - interval '3 days')`.execute(db);
  expect(await oneRound(3)).toEqual({ wallets: 1, suspended: 1, resumed: 0 });
  expect((await loadDomainById(db, id))?.suspended).toBe(true);
  await sql`update wallets set balance_rials = 0, negative_since = null, suspended_at = null`.execute(db);
  expect(await oneRound(3)).toEqual({ wallets: 0, suspended: 0, resumed: 1 });
  expect((await loadDomainById(db, id))?.suspended).toBe(false);
});
