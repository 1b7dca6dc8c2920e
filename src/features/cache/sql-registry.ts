// Connects to the registry of cached entries, which may have a database of its own, and knows which domains an edge serves.

import { Migrator, sql } from 'kysely';
import { namesAbove } from '../../edge/requests/host-names.ts';
import { loadHostDomains } from '../../store/edges/edge-requests.ts';
import { type Database, openDatabase } from '../../store/postgres/database.ts';
import { withMigrationLimits } from '../../store/postgres/deadlines.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import { sqlMigration } from '../../store/postgres/sql-migration.ts';

interface CacheRegistryOptions {
  readonly url: string;
  /** It is not the main database, whose tables `migrate` makes. */
  readonly isElsewhere: boolean;
  readonly maxConnections?: number;
  readonly onError?: (error: unknown) => void;
}

const MAX_CONNECTIONS = 8;
const CONNECT_MS = 2000;
/** One statement's time, of edges and of customers. */
const REGISTRY_LIMITS = { readMs: 5000, writeMs: 5000 };
/** Removals that nobody waits for; beyond, rows stay until the edge says that they are gone, or they expire. */
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

  /** Rejects while it is away. */
  async database(): Promise<Database> {
    this.#prepared ??= (this.#isElsewhere ? prepare(this.#db) : Promise.resolve()).catch((error) => {
      this.#prepared = undefined; // the next call tries again
      throw error;
    });
    await this.#prepared;
    return this.#db;
  }

  /** Makes the tables, if it is there; if not, the first call that finds it does. */
  async begin(): Promise<void> {
    await this.database().catch(this.#onError);
  }

  /** Work that its caller does not wait for. */
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

/** The registry cannot be asked now; a caller may try again. */
export function isRegistryAway(error: unknown): boolean {
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

/** Hosts that the edge does not serve are left out. Undefined: they have more names above them than one call may ask for. */
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
