// The migrations that this program requires. Only their names, because most processes run none.

import { sql } from 'kysely';
import { StartFault } from '../../process/start-fault.ts';
import type { Database } from './database.ts';

/** Every migration in order: the baseline, then the files of src/store/migrate/steps. */
export const MIGRATION_NAMES: readonly string[] = [
  '0001-schema',
  '0002-handing-over',
  '0003-transfers',
  '0004-updates',
  '0005-pdns',
  '0006-peer-tls',
  '0007-catalogs',
  '0008-cheaper-record-checks',
  '0009-identities',
];

/** The schema is missing, or older than this program. */
export class SchemaError extends StartFault {
  override readonly name = 'SchemaError';
}

/** Throws SchemaError if the schema lacks a migration. A newer schema, which has more of them, is accepted. */
export async function checkSchema(db: Database): Promise<void> {
  const applied = await appliedMigrations(db);
  if (applied === undefined) throw new SchemaError('the database has no schema yet: run `zonefleet migrate`');
  const missing = MIGRATION_NAMES.filter((name) => !applied.includes(name));
  if (missing.length > 0) {
    throw new SchemaError(
      `the database's schema is older than this program (it lacks ${missing.join(', ')}): run \`zonefleet migrate\``,
    );
  }
}

/** Returns undefined if the database has no schema. */
export async function appliedMigrations(db: Database): Promise<string[] | undefined> {
  const { rows } = await sql<{ present: boolean }>`
    select to_regclass('kysely_migration') is not null as present`.execute(db);
  if (!rows[0]?.present) return undefined;
  const applied = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return applied.rows.map((row) => row.name);
}
