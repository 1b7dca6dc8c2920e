// Which migrations a database must have for this program: their names only, since most processes run none.

import { sql } from 'kysely';
import { StartFault } from '../../process/start-fault.ts';
import type { Database } from './database.ts';

/** Every migration in order. */
const MIGRATION_NAMES = [
  '0001-operator-zones',
  '0002-customer-domains',
  '0003-rate-limits',
  '0004-name-marks',
  '0005-delegations',
  '0006-planned-check',
  '0007-unserved-zones',
  '0008-checks',
  '0009-txt-scans-aname',
  '0010-kept-answers',
  '0011-max-domains',
  '0013-roles',
  '0014-split-domains',
  '0015-nameserver-pool',
  '0016-claims',
  '0017-child-checks',
  '0018-fair-shares',
  '0019-trust-anchors',
  '0020-vantages',
  '0021-asked-names',
  '0022-txt-claims',
  '0023-steady-and-swept-names',
  '0030-sessions',
  '0032-call-windows',
  '0034-plans',
  '0040-moved-domains',
  '0041-takeover-mails',
  '0042-invites',
  '0044-audit',
  '0045-administration',
  '0046-audit-of-moved-domains',
  '0047-dnssec',
  '0048-hashed-names',
  '0049-dnssec-looks',
  '0050-denial-change',
  '0051-signals',
  '0052-edges',
  '0053-rules',
  '0054-certificates',
  '0055-edge-sets',
  '0056-recommendations',
  '0057-cache-purges',
  '0058-edge-batches',
  '0059-dns-counts',
  '0060-cached-entries',
  '0061-webhooks',
  '0062-uptime',
  '0064-traffic-mails',
  '0065-wallets',
  '0066-payments',
  '0067-tickets',
  '0068-resellers',
  '0069-debts',
  '0070-money-back',
  '0071-found-domains',
  '0072-breaker-freezes',
  '0073-more-record-types',
  '0074-edge-calls',
  '0075-record-hosts',
  '0077-approvals-ahead',
] as const;

export type MigrationName = (typeof MIGRATION_NAMES)[number];

/** The schema is missing, or older than this program. */
export class SchemaError extends StartFault {
  override readonly name = 'SchemaError';
}

/** Throws SchemaError if the schema lacks a migration. A newer schema, which has more of them, fits. */
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
