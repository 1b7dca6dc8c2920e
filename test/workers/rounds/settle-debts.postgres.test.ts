import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { createWorkerMetrics } from '../../../workers/metrics/metrics.ts';
import { runDebts } from '../../../workers/rounds/settle-debts.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

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

it('counts them', async () => {
  const unused = (): never => {
    throw new Error('unused');
  };
  const metrics = createWorkerMetrics({
    depths: async () => ({}),
    running: () => 0,
    packets: () => ({}),
    held: () => 0,
    pool: () => undefined,
    vantages: unused,
    hasRootFault: () => false,
    slots: unused,
  } as unknown as Parameters<typeof createWorkerMetrics>[0]);
  metrics.countDebts({ wallets: 2, suspended: 5, resumed: 0 });
  metrics.countDebts({ wallets: 0, suspended: 1, resumed: 3 });
  const text = await Promise.all(
    ['zonefleet_wallets_overdue_total', 'zonefleet_debt_suspensions_total'].map((name) =>
      metrics.registry.getSingleMetricAsString(name),
    ),
  );
  expect(text.join('\n')).toMatch(/overdue_total 2\n.*="suspended"} 6\n.*="resumed"} 3/s);
});
