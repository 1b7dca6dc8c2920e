import { expect, it } from 'vitest';
import { playMoney } from '../../support/billing/play-money.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db } = keptDatabase();

it('weeks of purchases, renewals, debts and suspensions on Postgres match the model', async () => {
  const { differences, played } = await playMoney(db, { domains: 12, days: 70, seed: 5 });
  expect(differences).toEqual([]);
  for (const kind of [
    ...['bought', 'short', 'credit_limit', 'wrong_state'].map((came) => `purchase ${came}`),
    ...['switch bought', 'hand over', 'provider'],
    ...['renewed', 'unpaid', 'grace', 'ended', 'suspended', 'resumed'],
  ])
    expect([kind, (played[kind] ?? 0) > 0]).toEqual([kind, true]);
});
