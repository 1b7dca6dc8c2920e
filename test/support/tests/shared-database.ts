// One database for all tests of a file.

import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { emptyDatabase, planDatabase, type TestDatabase } from '../database/database.ts';

interface Shared extends Pick<TestDatabase, 'url' | 'db'> {
  /** Runs a statement with its values, and returns its rows. */
  query<T>(...statement: Statement): Promise<T[]>;
  /** Returns the first column of all rows. */
  column<T>(...statement: Statement): Promise<T[]>;
  /** Returns the first column of the first row. Undefined if there is no row. */
  value<T>(...statement: Statement): Promise<T | undefined>;
}

type Statement = readonly [text: TemplateStringsArray, ...values: unknown[]];

/** Registers the hooks that create and drop the database. Its rows are kept between tests. */
export function keptDatabase(): Shared {
  const { url, db, create, drop } = planDatabase();
  beforeAll(() => create());
  afterAll(() => drop());
  const query = async (...statement: Statement) => (await sql<never>(...statement).execute(db)).rows;
  const column = async (...statement: Statement) =>
    (await query(...statement)).map((row) => Object.values(row)[0] as never);
  return { url, db, query, column, value: async (...statement) => (await column(...statement))[0] };
}

/**
 * Registers the hooks that create the database and empty it before each test. Ids are not reused. Plans and settings keep
 * the values set in `beforeAll`.
 */
export function sharedDatabase(): Shared {
  const database = keptDatabase();
  beforeEach(() => emptyDatabase(database, { restores: false }));
  return database;
}
