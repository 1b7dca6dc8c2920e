// A pool of connections to Postgres behind Kysely. Every statement has a deadline (deadlines.ts), and so has the wait
// for a connection. `destroy()` first sends a NOTIFY that is still pending.

import { Kysely, PostgresDialect } from 'kysely';
import type { ClientBase } from 'pg';
import { BoundedClient } from './bounded-client.ts';
import { connectionTypes } from './connection.ts';
import { CONNECT_TIMEOUT_MS, type Limits, SERVICE_LIMITS, sessionSettings } from './deadlines.ts';
import { GrowingPool } from './growing-pool.ts';
import { PreparedStatements } from './prepared-statements.ts';
import type { Schema } from './tables/schema.ts';

export type Database = Kysely<Schema>;

interface DatabaseOptions {
  maxConnections?: number;
  /** The limit for opening a connection, and for waiting until one is free. */
  connectTimeoutMs?: number;
  /** How many calls may wait for a connection; the next is refused at once. */
  maxWaiting?: number;
  limits?: Limits;
  /** Called with the error of an idle connection that broke; the pool replaces it by itself. */
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
  // Without a listener a broken idle connection would end the process.
  pool.on('error', (error) => options.onError?.(error));
  // The same for one in use, which the pool does not listen to; its query fails too, and is where the error is told.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db: Database = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: growing }) });
  const destroy = db.destroy.bind(db);
  db.destroy = async () => {
    await beforeDestroy.get(db)?.();
    await destroy();
  };
  return db;
}
