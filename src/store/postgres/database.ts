// A pool of connections to Postgres for Kysely. Every statement has a deadline (deadlines.ts), and so has the wait for
// a connection. `destroy()` first sends a pending NOTIFY.

import { Kysely } from 'kysely';
import type { ClientBase } from 'pg';
import { BoundedClient } from './bounded-client.ts';
import { connectionTypes } from './connection.ts';
import { CONNECT_TIMEOUT_MS, type Limits, SERVICE_LIMITS, sessionSettings } from './deadlines.ts';
import { GrowingPool } from './growing-pool.ts';
import { PooledDialect } from './pool-driver.ts';
import { PreparedStatements } from './prepared-statements.ts';
import type { Schema } from './tables/schema.ts';

export type Database = Kysely<Schema>;

interface DatabaseOptions {
  maxConnections?: number;
  /** Timeout for opening a connection, and for waiting for a free one. */
  connectTimeoutMs?: number;
  /** Maximum number of calls that wait for a connection. Further calls are rejected immediately. */
  maxWaiting?: number;
  limits?: Limits;
  /** Called with the error of an idle connection that broke. The pool replaces it automatically. */
  onError?: (error: Error) => void;
}

const MAX_WAITING = 500;

const beforeDestroy = new WeakMap<Database, () => Promise<void>>();

/** Runs `task` once when this database is destroyed, while queries still work. */
export function runBeforeDestroy(db: Database, task: () => Promise<void>): void {
  beforeDestroy.set(db, task);
}

export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { maxWaiting = MAX_WAITING, limits = SERVICE_LIMITS } = options;
  const settings = sessionSettings(limits);
  const config = {
    maxWaiting,
    Client: BoundedClient,
    connectionString: url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    application_name: 'zonefleet',
    types: connectionTypes,
    limits,
    statements: new PreparedStatements(),
    onConnect: async (client: ClientBase) => {
      await client.query(settings);
    },
  };
  const growing = new GrowingPool(config);
  const { pool } = growing;
  // Without a listener, a broken idle connection would end the process.
  pool.on('error', (error) => options.onError?.(error));
  // The pool does not listen to connections in use. Their query fails and reports the error.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db: Database = new Kysely<Schema>({ dialect: new PooledDialect(growing) });
  const destroy = db.destroy.bind(db);
  db.destroy = async () => {
    await beforeDestroy.get(db)?.();
    await destroy();
  };
  return db;
}
