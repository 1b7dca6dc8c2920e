// Migrations that are SQL files.

import { readFile } from 'node:fs/promises';
import { type Migration, sql } from 'kysely';

const SOURCES = new URL('../../', import.meta.url);

/** Returns the migration that applies the files in this order. Their paths are relative to src. */
export function sqlMigration(paths: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const path of paths) await sql.raw(await readFile(new URL(path, SOURCES), 'utf8')).execute(db);
    },
  };
}
