// 400 days of money equal a model that is written from docs/rules.md "Plans" and "Money" and imports nothing of src: of a
// thousand domains of resellers, their clients and others, on each day, the plans, suspensions, balances, rows of the ledger
// and invoices. A small play is in test/store/money/charge.postgres.test.ts.
//
// Each of these faults was put into src once, and the small play saw it: a charge made twice, a grace that is a day shorter (of subscriptions, of debts), a domain
// resumed that a hand suspended, one enabled that a hand disabled, a credit rounded up, a reseller's floor that is a rial
// lower or higher, clients who are not suspended with their reseller.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { playMoney } from '../../support/billing/play-money.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { scale } from '../../support/tests/scale.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('400 days of money equal the model', async () => {
  const play = { domains: scale(1000, 60), days: scale(400, 60), seed: 11 };
  const { differences } = await playMoney(database.db, play);
  expect(differences).toEqual([]);
});
