// Changes the time of a database: its time functions run ahead or behind. Open connections keep the real time.

import { sql } from 'kysely';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../../src/store/postgres/deadlines.ts';
import type { TestDatabase } from './database.ts';

/** Copies a database and sets its clock ahead. Destroy it before the next one. */
export async function atLater(
  { db, url }: Pick<TestDatabase, 'db' | 'url'>,
  days: number,
): Promise<Database> {
  await sql`create schema if not exists later`.execute(db);
  await sql
    .raw(`
    create or replace function later.clock_timestamp() returns timestamptz language sql volatile as
      $$ select pg_catalog.clock_timestamp() + interval '${days} days' $$`)
    .execute(db);
  await sql
    .raw(`
    create or replace function later.now() returns timestamptz language sql stable as
      $$ select pg_catalog.now() + interval '${days} days' $$`)
    .execute(db);
  const options = encodeURIComponent('-c search_path=later,pg_catalog,public');
  return openDatabase(`${url}${url.includes('?') ? '&' : '?'}options=${options}`, {
    limits: OPERATOR_LIMITS,
  });
}
