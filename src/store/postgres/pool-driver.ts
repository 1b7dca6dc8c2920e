// Kysely's driver for a pool of bounded connections. A statement that the code need not wait for is sent together with
// the next one of its transaction, which saves a round trip: BEGIN always, others with `sendWithNext`.

import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type QueryResult,
  type RawBuilder,
  type TransactionSettings,
} from 'kysely';
import type { PoolClient } from 'pg';
import type { BoundedClient } from './bounded-client.ts';
import type { Database } from './database.ts';
import type { GrowingPool } from './growing-pool.ts';

const sentWithNext = new WeakSet<CompiledQuery>();

/**
 * Sends the statement together with the next one of the transaction, or with its commit. If it fails, that one rejects
 * with the error. Its rows are discarded.
 */
export async function sendWithNext(trx: Database, statement: RawBuilder<unknown>): Promise<void> {
  const query = statement.compile(trx);
  if (trx.isTransaction) sentWithNext.add(query);
  await trx.executeQuery(query);
}

export class PooledDialect extends PostgresDialect {
  readonly #pool: GrowingPool;

  constructor(pool: GrowingPool) {
    super({ pool });
    this.#pool = pool;
  }

  override createDriver(): Driver {
    return new PoolDriver(this.#pool);
  }
}

type Client = BoundedClient & PoolClient;

class PoolDriver implements Driver {
  readonly #pool: GrowingPool;
  readonly #connections = new WeakMap<Client, PooledConnection>();

  constructor(pool: GrowingPool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PooledConnection> {
    const client = (await this.#pool.connect()) as unknown as Client;
    let connection = this.#connections.get(client);
    if (connection === undefined) {
      connection = new PooledConnection(client);
      this.#connections.set(client, connection);
    }
    return connection;
  }

  async beginTransaction({ client }: PooledConnection, settings: TransactionSettings): Promise<void> {
    const level = settings.isolationLevel && ` isolation level ${settings.isolationLevel}`;
    const mode = settings.accessMode && ` ${settings.accessMode}`;
    client.queryWithNext(`begin${level ?? ''}${mode ?? ''}`, []);
  }

  async commitTransaction(connection: PooledConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: PooledConnection): Promise<void> {
    if (connection.client.forget()) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection({ client }: PooledConnection): Promise<void> {
    client.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

class PooledConnection implements DatabaseConnection {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query;
    if (sentWithNext.has(query)) {
      this.client.queryWithNext(sql, parameters);
      return { rows: [] };
    }
    const { command, rowCount, rows } = await this.client.query(sql, [...parameters]);
    const isWrite =
      command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE';
    return { ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }), rows: rows ?? [] };
  }

  // biome-ignore lint/correctness/useYield: no statement is streamed through a pool
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported');
  }
}
