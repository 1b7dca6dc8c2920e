// One database for all tests of a file.

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { emptyDatabase, planDatabase, type TestDatabase } from '../database/database.ts';

type Shared = Pick<TestDatabase, 'url' | 'db'>;

/** Registers the hooks that create the database and drop it. Its rows stay from test to test. */
export function keptDatabase(): Shared {
  const { url, db, create, drop } = planDatabase();
  beforeAll(() => create());
  afterAll(() => drop());
  return { url, db };
}

/**
 * Registers the hooks that create the database, and that empty it before each test. Ids are not reused. Plans and settings keep
 * what `beforeAll` gave them.
 */
export function sharedDatabase(): Shared {
  const database = keptDatabase();
  beforeEach(() => emptyDatabase(database, { restores: false }));
  return database;
}
