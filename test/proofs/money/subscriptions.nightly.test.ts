// Ten thousand random histories of subscriptions equal a model that is written from docs/rules.md "Plans", and so do the
// operator's commands and the workers' rounds on Postgres. test/billing shows that rules with a fault do not.

import { afterAll, beforeAll, expect, it } from 'vitest';
import * as rules from '../../../src/billing/subscription.ts';
import { firstDifference } from '../../support/billing/play-history.ts';
import { playOnPostgres } from '../../support/billing/play-on-postgres.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { scale } from '../../support/tests/scale.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('ten thousand random histories by the rules equal the model', () => {
  expect(firstDifference(rules, scale(100_000, 10_000))).toBeUndefined();
});

it('random histories on Postgres equal the model', async () => {
  const play = { domains: scale(1000, 100), rounds: 30, seed: 7 };
  expect(await playOnPostgres(database.db, play)).toEqual([]);
});
