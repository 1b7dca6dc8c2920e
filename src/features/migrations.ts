// The migrations: the baseline schema, and its later changes.

import type { Migration } from 'kysely';
import { MIGRATION_NAMES } from '../store/postgres/schema-version.ts';
import { sqlMigration } from '../store/postgres/sql-migration.ts';
import { FEATURES } from './every-feature.ts';

/** The migration that creates the schema. */
export const BASELINE = '0001-schema';

/** Files of the core, in the order of their dependencies. The files of features follow. */
const CORE_SCHEMA = [
  'zones',
  'dns-counts',
  'secrets',
  'accounts',
  'audit',
  'domains',
  'aname',
  'subscriptions',
  'mails',
  'claims',
  'rules',
  'checks',
  'verifications',
  'dnssec',
  'edge',
  'scans',
  'sharing',
  'vantage',
  'requests',
  'certificates',
  'transfers',
  'updates',
  'catalogs',
].map((area) => `store/migrate/schema/${area}.sql`);

const SCHEMA_FILES = [
  ...CORE_SCHEMA,
  ...FEATURES.flatMap(({ name, schema = [] }) => schema.map((file) => `features/${name}/${file}`)),
];

/**
 * Returns the migrations for one database. A database that gets the baseline now already has what the steps change, so it
 * only records their names.
 */
export function migrationsForOne(): Record<string, Migration> {
  let isNew = false;
  const baseline = sqlMigration(SCHEMA_FILES);
  const stepOf = (name: string): Migration => {
    const step = sqlMigration([`store/migrate/steps/${name}.sql`]);
    return { up: async (db) => (isNew ? undefined : await step.up(db)) };
  };
  const [, ...steps] = MIGRATION_NAMES;
  return {
    [BASELINE]: {
      async up(db) {
        isNew = true;
        await baseline.up(db);
      },
    },
    ...Object.fromEntries(steps.map((name) => [name, stepOf(name)])),
  };
}
