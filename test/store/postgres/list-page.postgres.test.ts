import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countUpTo } from '../../../src/store/postgres/list-page.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

it('a count is exact up to its bound, and one more for whatever is beyond it', async () => {
  const count = (rows: number, most?: number) =>
    countUpTo(database.db, sql`generate_series(1, ${rows}::integer)`, most);
  expect(await Promise.all([0, 9, 10, 11, 12, 1000].map((rows) => count(rows, 10)))).toEqual([
    0, 9, 10, 11, 11, 11,
  ]);
  expect([await count(10_000), await count(20_000)]).toEqual([10_000, 10_001]);
});
