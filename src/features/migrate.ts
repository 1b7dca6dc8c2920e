// Updates the schema, stores the settings that affect answers, and grants the database roles their rights. Several
// processes may run it concurrently: one works, and the others wait and find nothing to do.

import { setTimeout as pause } from 'node:timers/promises';
import { Migrator, sql } from 'kysely';
import { StartFault } from '../process/start-fault.ts';
import { requireSigner } from '../store/keys/key-store.ts';
import { refuseDroppedNames } from '../store/migrate/dropped-names.ts';
import { limitLockWaits, listOpenTransactions } from '../store/migrate/lock-waits.ts';
import { republishDomains } from '../store/migrate/republish-domains.ts';
import { announceChanges } from '../store/postgres/announce-changes.ts';
import {
  type GivenAnswerSettings,
  saveAnswerSettings,
  withStoredSettings,
} from '../store/postgres/answer-settings.ts';
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
/** Maximum time for which a step waits for a table, and others for the step. */
const STEP_LOCK_MS = 2000;
const STEP_PAUSE_MS = 3000;
/** About one line per minute. */
const ATTEMPTS_PER_LINE = 12;
/** Error codes of Postgres: a lock was not available in time, or two transactions waited for each other. */
const IN_USE = new Set(['55P03', '40P01']);

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
  /** Called when a step waits for a table that other sessions use. */
  readonly onWait?: (reason: string) => void;
}

/**
 * Throws StartFault if the schema predates the baseline and cannot be adopted, if the settings drop nameserver names
 * that are in use, or if domains are signed with another secret. Throws DnssecUnavailable if this process has no
 * secret.
 */
export async function migrate(
  db: Database,
  given: GivenAnswerSettings,
  { force = false, onWait = () => {} }: MigrateOptions = {},
): Promise<Migrated> {
  const migrated = await withMigrationLimits(db, async (connection) => {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection);
    try {
      const applied = await applyMigrations(connection, onWait);
      const changed = await connection.transaction().execute(async (trx) => {
        const settings = await withStoredSettings(trx, given);
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

/**
 * Returns the names of the migrations that a database lacks: none if a newer program has migrated it. Throws StartFault
 * if it belongs to a development version that cannot be adopted.
 */
export function pendingMigrations(known: readonly string[]): readonly string[] {
  if (known[0] === FIRST_STEP) {
    const newest = known.at(-1);
    if (newest === LAST_STEP) return MIGRATION_NAMES.filter((name) => name !== BASELINE);
    throw new StartFault(
      `the database was created by a development version, and its newest migration is ${newest}: this program requires a new database, or one that the last development version migrated to ${LAST_STEP}`,
    );
  }
  if (known.some((name) => !MIGRATION_NAMES.includes(name))) return [];
  return MIGRATION_NAMES.filter((name) => !known.includes(name));
}

async function applyMigrations(db: Database, onWait: (reason: string) => void): Promise<string[]> {
  const known = (await appliedMigrations(db)) ?? [];
  const pending = pendingMigrations(known);
  if (pending.length === 0) return [];
  if (known[0] === FIRST_STEP) await adopt(db);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrationsForOne() } });
  if (known.length > 0) {
    for (const name of pending) await applyStep(db, name, migrator, onWait);
    return [...pending];
  }
  // In one transaction, because the steps must be recorded together with the baseline that contains them.
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return results.map((result) => result.migrationName);
}

/**
 * Applies one step in its own transaction. While a step waits for a table, all others that need the table wait too, so it
 * waits briefly and then tries again: a backup may use the tables for hours.
 */
async function applyStep(
  db: Database,
  name: string,
  migrator: Migrator,
  onWait: (reason: string) => void,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    await limitLockWaits(db, STEP_LOCK_MS);
    const { error } = await migrator.migrateTo(name);
    await limitLockWaits(db, 0);
    if (error === undefined) return;
    if (!IN_USE.has((error as { code?: string }).code ?? '')) throw error;
    if (attempt % ATTEMPTS_PER_LINE === 0) {
      const open = await listOpenTransactions(db);
      onWait(`${name} waits for a table that is in use; open transactions: ${open.join(', ') || 'none'}`);
    }
    await pause(STEP_PAUSE_MS);
  }
}

/** Records the baseline instead of the steps from before it. */
async function adopt(db: Database): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`delete from kysely_migration`.execute(trx);
    await sql`insert into kysely_migration (name, timestamp) values (${BASELINE}, ${new Date().toISOString()})`.execute(
      trx,
    );
  });
}
