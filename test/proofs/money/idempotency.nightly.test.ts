// Random sequences of calls with Idempotency-Keys equal a model, while API processes are killed: a key is carried out once,
// repeated it answers what it answered first, and for another method, path or body it is refused. A small play, with
// connections to Postgres that break, is in test/api/calls/idempotency.postgres.test.ts.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Buyer, makeBuyers, sellTwoTerms } from '../../support/billing/buyers.ts';
import { unsound } from '../../support/billing/compare-money.ts';
import { playKeys } from '../../support/billing/play-keys.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { ApiFleet } from '../../support/processes/api-fleet.ts';
import { scale } from '../../support/tests/scale.ts';

const SEQUENCES = scale(5000, 150);
const KILL_EVERY = scale(250, 60);

let database: TestDatabase;
let fleet: ApiFleet;
let buyers: Buyer[];
let terms: readonly [number, number];

beforeAll(async () => {
  database = await createDatabase();
  terms = await sellTwoTerms(database.db);
  buyers = await makeBuyers(database.db, { count: 16, domains: 3, rials: 100_000_000 });
  fleet = await ApiFleet.start(database.url, 2);
});
afterAll(async () => {
  await fleet?.stop();
  await database?.drop();
});

it('random sequences of keys, calls and kills equal the model', async () => {
  const { db } = database;
  const onPlayed = async (played: number) => {
    if (played % KILL_EVERY === 0) await fleet.kill();
  };
  expect(
    await playKeys({ client: fleet, db, buyers, terms, sequences: SEQUENCES, seed: 3, onPlayed }),
  ).toEqual([]);
  expect(await unsound(db)).toEqual([]);
  expect(fleet.kills).toBeGreaterThan(0);
});
