// Updates the schema, stores the settings that affect answers, and grants the database roles their rights. Several
// processes may run it concurrently: one works, and the others wait and find nothing to do.

import { Migrator, sql } from 'kysely';
import { StartFault } from '../process/start-fault.ts';
import { requireSigner } from '../store/keys/key-store.ts';
import { refuseDroppedNames } from '../store/migrate/dropped-names.ts';
import { republishDomains } from '../store/migrate/republish-domains.ts';
import { announceChanges } from '../store/postgres/announce-changes.ts';
import type { AnswerSettings } from '../store/postgres/answer-settings.ts';
import { saveAnswerSettings } from '../store/postgres/answer-settings.ts';
import type { Database } from '../store/postgres/database.ts';
import { withMigrationLimits } from '../store/postgres/deadlines.ts';
import { appliedMigrations, MIGRATION_NAMES } from '../store/postgres/schema-version.ts';
import { type PreparedRoles, prepareRoles } from '../store/roles/roles.ts';
import { PRIVILEGES_OF_FEATURES } from './every-feature.ts';
import { BASELINE, migrationsForOne } from './migrations.ts';

const MIGRATION_LOCK = 0x7a6f6e65; // 'zone'
/** The first and the last migration of development versions, before the baseline. */
const FIRST_STEP = '0001-operator-zones';
const LAST_STEP = '0077-approvals-ahead';

interface Migrated {
  /** The migrations that were applied now. */
  applied: string[];
  /** The settings whose stored value differed. */
  changed: string[];
  /** Number of domains whose answers depend on a changed setting. Each got a change. */
  zones: number;
  roles: PreparedRoles;
}

interface MigrateOptions {
  /** Drops names of nameservers even if they are in use. */
  readonly force?: boolean;
}

/**
 * Throws StartFault if the schema predates the baseline and cannot be adopted, if the settings drop nameserver names
 * that are in use, or if domains are signed with another secret. Throws DnssecUnavailable if this process has no
 * secret.
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
        // The stored settings apply to all domains, so none is stored unless this process can re-sign the domains.
        if (changed.length > 0) await requireSigner(trx);
        return changed;
      });
      const zones = await republishDomains(connection);
      return {
        applied,
        changed,
        zones,
        roles: await prepareRoles(connection, PRIVILEGES_OF_FEATURES),
      };
    } finally {
      await sql`select pg_advisory_unlock(${MIGRATION_LOCK})`.execute(connection);
    }
  });
  if (migrated.zones > 0) announceChanges(db);
  return migrated;
}

async function applyMigrations(db: Database): Promise<string[]> {
  const known = (await appliedMigrations(db)) ?? [];
  if (known[0] === FIRST_STEP) await adopt(db, known.at(-1) as string);
  // A newer program has already migrated. Its schema fits this program, but Kysely would report it as corrupt.
  else if (known.some((name) => !MIGRATION_NAMES.includes(name))) return [];
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrationsForOne() } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map((result) => result.migrationName);
}

/** Records the baseline instead of the steps from before it, if the database has all of them. Otherwise throws StartFault. */
async function adopt(db: Database, newest: string): Promise<void> {
  if (newest !== LAST_STEP) {
    throw new StartFault(
      `the database was created by a development version, and its newest migration is ${newest}: this program requires a new database, or one that the last development version migrated to ${LAST_STEP}`,
    );
  }
  await db.transaction().execute(async (trx) => {
    await sql`delete from kysely_migration`.execute(trx);
    await sql`insert into kysely_migration (name, timestamp) values (${BASELINE}, ${new Date().toISOString()})`.execute(
      trx,
    );
  });
}
