// Tokens for questions to one address, shared by all workers.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { postgresLeases } from '../../../src/store/accounts/query-leases.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let db: Database;

beforeEach(async () => {
  ({ db } = database);
});

test('many workers at once never have more than the rate in any second, and each gets some', async () => {
  const perSecond = 50;
  const granted = new Map<number, number>();
  const workers = Array.from({ length: 6 }, () => postgresLeases(db, perSecond));
  const shares = workers.map(() => 0);
  const seconds = () => granted.size;
  const enough = () => shares.every((share) => share > 0) && seconds() >= 3;
  await Promise.all(
    workers.map(async (worker, i) => {
      while (!enough()) {
        const lease = await worker.lease('192.0.2.1', 10);
        expect(lease.granted).toBeLessThanOrEqual(10);
        expect(lease.retryAfterMs).toBeGreaterThan(0);
        expect(lease.retryAfterMs).toBeLessThanOrEqual(1000);
        shares[i] = (shares[i] ?? 0) + lease.granted;
        const second = await rowSecond();
        granted.set(second.second, second.granted);
      }
    }),
  );
  for (const count of granted.values()) expect(count).toBeLessThanOrEqual(perSecond);
  const { second } = await rowSecond();
  const [first = second] = granted.keys();
  const total = shares.reduce((a, b) => a + b, 0);
  expect(total).toBeLessThanOrEqual(perSecond * (second - first + 1));
  expect(total).toBeGreaterThanOrEqual(perSecond); // of a second that was seen whole
});

const rowSecond = async () =>
  await db.selectFrom('resolver_leases').select(['second', 'granted']).executeTakeFirstOrThrow();

test('what is used up comes back with the next second; addresses are apart, and those of resolvers', async () => {
  const { lease } = postgresLeases(db, 4);
  await sql`insert into resolver_leases values
      ('192.0.2.1', floor(extract(epoch from now())) + 1, 4, 1),
      ('resolver 192.0.2.1', floor(extract(epoch from now())) + 1, 3, 1)`.execute(db);
  expect(await lease('192.0.2.1', 10)).toMatchObject({ granted: 0 });
  expect(await lease('resolver 192.0.2.1', 10)).toMatchObject({ granted: 1 });
  expect(await lease('192.0.2.2', 1)).toMatchObject({ granted: 1 });
  await sql`update resolver_leases set second = floor(extract(epoch from now())) - 1`.execute(db);
  expect(await lease('192.0.2.1', 10)).toMatchObject({ granted: 2 });
});

test('a clock that was set far back does not stop questions until it has caught up', async () => {
  await sql`insert into resolver_leases values ('192.0.2.1', floor(extract(epoch from now())) + 9999, 50, 1)`.execute(
    db,
  );
  expect(await postgresLeases(db, 50).lease('192.0.2.1', 10)).toMatchObject({ granted: 10 });
});
