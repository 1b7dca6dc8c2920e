// A pool of connections to Postgres behind Kysely. `destroy()` first sends a NOTIFY that is still due.

import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { connectionTypes } from './connection-types.ts';
import { PreparingClient } from './preparing-client.ts';
import type { Schema } from './schema.ts';

export type Database = Kysely<Schema>;

export interface DatabaseOptions {
  maxConnections?: number;
  connectTimeoutMs?: number;
  /** Told of an idle connection that broke; the pool replaces it by itself. */
  onError?: (error: Error) => void;
}

const beforeDestroy = new WeakMap<Database, () => Promise<void>>();

/** Runs `task` once when this database is destroyed, while queries still work. */
export function runBeforeDestroy(db: Database, task: () => Promise<void>): void {
  beforeDestroy.set(db, task);
}

export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const pool = new Pool({
    Client: PreparingClient,
    connectionString: url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5000,
    keepAlive: true,
    application_name: 'zonefleet',
    types: connectionTypes,
  });
  // Without a listener a broken idle connection would end the process.
  pool.on('error', (error) => options.onError?.(error));
  // The same for one in use, which the pool does not listen to; its query fails too, and is where the error is told.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db: Database = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const destroy = db.destroy.bind(db);
  db.destroy = async () => {
    await beforeDestroy.get(db)?.();
    await destroy();
  };
  return db;
}
