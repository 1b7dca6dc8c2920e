// The migrations: the baseline schema, and its later changes.

import type { Migration } from 'kysely';
import { MIGRATION_NAMES } from '../store/postgres/schema-version.ts';
import { sqlMigration } from '../store/postgres/sql-migration.ts';
import { FEATURES } from './every-feature.ts';

/** The migration that creates the schema. */
export const BASELINE = '0001-schema';

/** The files of the core, in the order in which they depend on each other. The files of features come after them. */
const CORE_SCHEMA = [
  ...[
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
  ],
  ...[
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
  ],
].map((area) => `store/migrate/schema/${area}.sql`);

const SCHEMA_FILES = [
  ...CORE_SCHEMA,
  ...FEATURES.flatMap(({ name, schema = [] }) => schema.map((file) => `features/${name}/${file}`)),
];

export const MIGRATIONS: Readonly<Record<string, Migration>> = Object.fromEntries(
  MIGRATION_NAMES.map((name) => [
    name,
    sqlMigration(name === BASELINE ? SCHEMA_FILES : [`store/migrate/steps/${name}.sql`]),
  ]),
);
