// Brings the schema up to date, stores the settings that answers are made of, and grants the database roles their
// rights. Many processes may run it at once: one works, the others wait and find nothing to do.

import { Migrator, sql } from 'kysely';
import { requireSigner } from '../keys/key-store.ts';
import { announceChanges } from '../postgres/announce-changes.ts';
import type { AnswerSettings } from '../postgres/answer-settings.ts';
import { saveAnswerSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { withMigrationLimits } from '../postgres/deadlines.ts';
import { appliedMigrations } from '../postgres/schema-version.ts';
import { type PreparedRoles, prepareRoles } from '../roles/roles.ts';
import { refuseDroppedNames } from './dropped-names.ts';
import { migrations } from './migrations.ts';
import { republishDomains } from './republish-domains.ts';

const MIGRATION_LOCK = 0x7a6f6e65; // 'zone'

interface Migrated {
  /** The migrations that were applied now. */
  applied: string[];
  /** The settings whose stored value differed. */
  changed: string[];
  /** How many domains have answers made of a changed setting: each got a change. */
  zones: number;
  roles: PreparedRoles;
}

interface MigrateOptions {
  /** Drops names of nameservers that are in use, too. */
  readonly force?: boolean;
}

/**
 * Throws StartFault where names of nameservers are dropped that are in use, or domains are signed with another secret, and
 * DnssecUnavailable where this process has none.
 */
export async function migrate(
  db: Database,
  settings: AnswerSettings,
  { force = false }: MigrateOptions = {},
): Promise<Migrated> {
  const migrated = await withMigrationLimits(db, async (connection) => {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection);
    try {
      const applied = await applyMigrations(connection);
      const changed = await connection.transaction().execute(async (trx) => {
        if (!force) await refuseDroppedNames(trx, settings);
        const changed = await saveAnswerSettings(trx, settings);
        // Domains are published anew with what is stored here: all of them, or nothing is stored.
        if (changed.length > 0) await requireSigner(trx);
        return changed;
      });
      const zones = await republishDomains(connection);
      return { applied, changed, zones, roles: await prepareRoles(connection) };
    } finally {
      await sql`select pg_advisory_unlock(${MIGRATION_LOCK})`.execute(connection);
    }
  });
  if (migrated.zones > 0) announceChanges(db);
  return migrated;
}

async function applyMigrations(db: Database): Promise<string[]> {
  const known = await appliedMigrations(db);
  // A newer program has migrated already: its schema serves us too, and Kysely would call it corrupt.
  if (known?.some((name) => !(name in migrations))) return [];
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map((result) => result.migrationName);
}
