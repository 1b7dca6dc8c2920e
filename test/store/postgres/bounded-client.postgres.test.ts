// What a pool's connection prepares, seen by Postgres.

import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase(database.url, { maxConnections: 1 });
});

afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

async function prepared(text: string): Promise<number> {
  const { rows } = await sql
    .raw<{ count: number }>(`select count(*) from pg_prepared_statements where statement like '%${text}%'`)
    .execute(db);
  return (rows[0] as { count: number }).count;
}

test('a statement that is repeated is prepared once, and answers the same', async () => {
  for (let i = 0; i < 20; i++) {
    const { rows } = await sql<{ twice: number }>`select ${i}::integer * 2 as twice`.execute(db);
    expect(rows).toEqual([{ twice: 2 * i }]);
  }
  expect(await prepared(' as twice')).toBe(1);
});

test('a failure of a prepared statement is its own, and the next one goes on', async () => {
  const divide = (by: number) => sql<{ part: number }>`select 6 / ${by}::integer as part`.execute(db);
  for (let i = 1; i <= 10; i++) await divide(i);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect((await divide(3)).rows).toEqual([{ part: 2 }]);
  expect(await prepared(' as part')).toBe(1);
});

test('a table that was changed under a prepared statement fails one call, and is read as it is by the next', async () => {
  await sql`create table shapes (id integer)`.execute(db);
  const read = () => sql`select * from shapes where id <> ${0}`.execute(db);
  for (let i = 0; i < 10; i++) await read();
  await sql`alter table shapes add column colour text default 'red'`.execute(db);
  await sql`insert into shapes values (1)`.execute(db);
  await expect(read()).rejects.toThrow('cached plan');
  expect((await read()).rows).toEqual([{ id: 1, colour: 'red' }]);
});
