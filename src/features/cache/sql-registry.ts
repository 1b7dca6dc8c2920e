// Connects to the cache registry, which may have its own database, and finds the domains that an edge serves.

import { Migrator, sql } from 'kysely';
import { namesAbove } from '../../edge/requests/host-names.ts';
import { loadHostDomains } from '../../store/edges/edge-requests.ts';
import { type Database, openDatabase } from '../../store/postgres/database.ts';
import { withMigrationLimits } from '../../store/postgres/deadlines.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import { sqlMigration } from '../../store/postgres/sql-migration.ts';

interface CacheRegistryOptions {
  readonly url: string;
  /** True if the registry is not in the main database, whose tables `migrate` creates. */
  readonly isElsewhere: boolean;
  readonly maxConnections?: number;
  readonly onError?: (error: unknown) => void;
}

const MAX_CONNECTIONS = 8;
const CONNECT_MS = 2000;
/** Time limits of a statement, both for edges and for customers. */
const REGISTRY_LIMITS = { readMs: 5000, writeMs: 5000 };
/** Maximum number of concurrent background removals. Other rows stay until they expire or are reported. */
const MOST_IN_BACKGROUND = 200;
const MIGRATION_TABLES = {
  migrationTableName: 'cache_registry_migration',
  migrationLockTableName: 'cache_registry_migration_lock',
};
const MIGRATIONS = { '0001-cached-entries': sqlMigration(['features/cache/entries.sql']) };

export class CacheRegistry {
  readonly #db: Database;
  readonly #isElsewhere: boolean;
  readonly #onError: (error: unknown) => void;
  #prepared: Promise<void> | undefined;
  readonly #background = new Set<Promise<void>>();

  constructor({ url, isElsewhere, maxConnections = MAX_CONNECTIONS, onError }: CacheRegistryOptions) {
    this.#isElsewhere = isElsewhere;
    this.#onError = onError ?? (() => {});
    this.#db = openDatabase(url, {
      maxConnections,
      connectTimeoutMs: CONNECT_MS,
      limits: REGISTRY_LIMITS,
      onError: this.#onError,
    });
  }

  /** Rejects while the registry is unavailable. */
  async database(): Promise<Database> {
    this.#prepared ??= (this.#isElsewhere ? prepare(this.#db) : Promise.resolve()).catch((error) => {
      this.#prepared = undefined; // the next call tries again
      throw error;
    });
    await this.#prepared;
    return this.#db;
  }

  /** Creates the tables. If the registry is unavailable, the first successful call creates them. */
  async begin(): Promise<void> {
    await this.database().catch(this.#onError);
  }

  /** Runs work that the caller does not wait for. */
  inBackground(work: (db: Database) => Promise<unknown>): void {
    if (this.#background.size >= MOST_IN_BACKGROUND) return;
    const running = this.database()
      .then(work)
      .then(() => undefined, this.#onError)
      .finally(() => this.#background.delete(running));
    this.#background.add(running);
  }

  async close(): Promise<void> {
    await Promise.all(this.#background);
    await this.#db.destroy();
  }
}

/** True if the registry is unavailable. The caller may try again. */
export function isRegistryUnavailable(error: unknown): boolean {
  return outageOf(error) !== undefined;
}

async function prepare(db: Database): Promise<void> {
  const { rows } = await sql<{ isMain: boolean }>`
    select to_regclass('kysely_migration') is not null and to_regclass('cached_entries') is not null as "isMain"`.execute(
    db,
  );
  if (rows[0]?.isMain) return;
  await withMigrationLimits(db, async (connection) => {
    const migrator = new Migrator({
      db: connection,
      provider: { getMigrations: async () => MIGRATIONS },
      ...MIGRATION_TABLES,
    });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
  });
}

/** Returns the domain of each host that the edge serves. Undefined if there are too many names. */
export async function findServedDomains(
  db: Database,
  region: string,
  hosts: ReadonlySet<string>,
  mostNames: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  const names = new Set([...hosts].flatMap(namesAbove));
  if (names.size > mostNames) return undefined;
  const domains = await loadHostDomains(db, region, [...names]);
  const served = new Map<string, number>();
  for (const host of hosts) {
    const name = namesAbove(host).find((each) => domains.has(each));
    const domain = name === undefined ? undefined : domains.get(name);
    if (domain?.isHere === true) served.set(host, domain.id);
  }
  return served;
}
