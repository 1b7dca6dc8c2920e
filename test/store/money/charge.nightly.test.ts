import { afterAll, beforeAll, expect, it } from 'vitest';
import { playMoney } from '../../support/billing/play-money.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('weeks of purchases, renewals, debts and suspensions on Postgres equal the model', async () => {
  const { differences, played } = await playMoney(database.db, { domains: 30, days: 70, seed: 5 });
  expect(differences).toEqual([]);
  for (const kind of ['bought', 'short', 'credit_limit', 'wrong_state'].map((came) => `purchase ${came}`))
    expect([kind, played[kind]]).toEqual([kind, expect.any(Number)]);
  for (const kind of ['renewed', 'unpaid', 'grace', 'ended', 'suspended', 'resumed'])
    expect([kind, (played[kind] ?? 0) > 0]).toEqual([kind, true]);
});
