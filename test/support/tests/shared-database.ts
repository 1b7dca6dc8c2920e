// One database for all tests of a file, which costs a tenth of one database per test.

import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Database } from '../../../src/store/postgres/database.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';

/** Registers the hooks that create the database, and that delete each test's rows before the next test. Ids are not reused. */
export function sharedDatabase(): Pick<TestDatabase, 'url' | 'db'> {
  let database: TestDatabase;
  let tables: string[] = [];
  beforeAll(async () => {
    database = await createDatabase();
    tables = await listEmptyTables(database.db);
  });
  beforeEach(() => deleteRows(database.db, tables));
  afterAll(() => database.drop());
  return {
    get url() {
      return database.url;
    },
    get db() {
      return database.db;
    },
  };
}

const hasRows = (table: string) =>
  sql`select ${table}::text as name where exists (select from ${sql.table(table)})`;

async function listFilled(db: Database, tables: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`${sql.join(tables.map(hasRows), sql` union all `)}`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** Tables with rows in a new database, such as plans and settings, are left alone. */
async function listEmptyTables(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(db);
  const all = rows.map(({ name }) => name);
  const filled = new Set(await listFilled(db, all));
  return all.filter((name) => !filled.has(name));
}

async function deleteRows(db: Database, tables: readonly string[]): Promise<void> {
  const filled = await listFilled(db, tables);
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx); // without triggers
    for (const table of filled) await sql`delete from ${sql.table(table)}`.execute(trx);
  });
}
