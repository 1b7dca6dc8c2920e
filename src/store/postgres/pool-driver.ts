// Kysely's driver for a pool of bounded connections. To save round trips, several statements of a transaction can be sent
// together: BEGIN with the first statement, one without a result with the next (`sendWithNext`), and those that do not
// depend on each other (`inOneTrip`).

import {
  CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  PostgresDialect,
  type QueryResult,
  Transaction,
  type TransactionSettings,
} from 'kysely';
import type { PoolClient, QueryResult as Result } from 'pg';
import type { BoundedClient } from './bounded-client.ts';
import type { GrowingPool } from './growing-pool.ts';
import type { Schema } from './tables/schema.ts';

export const ROLL_BACK_TO_SAVEPOINT = 'rollback to savepoint nested';

const sentWithNext = new WeakSet<CompiledQuery>();
const sentBehindNext = new WeakSet<CompiledQuery>();
const trips = new WeakSet<Kysely<Schema>>();

/**
 * Sends the statement together with the next one of the transaction, or with its commit. If it fails, that one rejects
 * with the error. Its rows are discarded.
 */
export async function sendWithNext(
  trx: Kysely<Schema>,
  statement: { compile(trx: Kysely<Schema>): CompiledQuery },
): Promise<void> {
  const query = statement.compile(trx);
  if (trx.isTransaction) sentWithNext.add(query);
  await trx.executeQuery(query);
}

/**
 * Sends the statement behind the commit, which must be next, in the same packet. It is carried out if the commit succeeds,
 * and its errors are ignored.
 */
export async function sendBehindCommit(
  trx: Kysely<Schema>,
  statement: { compile(trx: Kysely<Schema>): CompiledQuery },
): Promise<void> {
  const query = statement.compile(trx);
  sentBehindNext.add(query);
  await trx.executeQuery(query);
}

/**
 * Returns a view of the transaction that sends the statements of one `Promise.all` together. They are carried out in
 * their order. If one fails, all fail.
 */
export function inOneTrip(trx: Kysely<Schema>): Kysely<Schema> {
  if (!trx.isTransaction || trips.has(trx)) return trx;
  const executor = trx.getExecutor();
  const trip = new Trip(executor);
  const provider: ConnectionProvider = { provideConnection: (consumer) => consumer(trip) };
  const dialect = {} as never; // only for schema changes and nested transactions
  const view = new Transaction<Schema>({
    config: { dialect },
    dialect,
    driver: dialect,
    executor: executor.withConnectionProvider(provider),
  });
  trips.add(view);
  return view;
}

interface Travelling {
  readonly query: CompiledQuery;
  /** Undefined if the rows are discarded. */
  readonly resolve?: (result: QueryResult<never>) => void;
  readonly reject?: (error: unknown) => void;
}

/** Collects statements until the code that sends them waits. */
class Trip implements DatabaseConnection {
  readonly #connections: ConnectionProvider;
  #travelling: Travelling[] = [];

  constructor(connections: ConnectionProvider) {
    this.#connections = connections;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (sentWithNext.has(query)) {
      // Without a statement that is awaited, the commit could be sent before the next tick.
      if (this.#travelling.length > 0) this.#travelling.push({ query });
      else await this.#connections.provideConnection((connection) => connection.executeQuery(query));
      return { rows: [] };
    }
    if (this.#travelling.length === 0) process.nextTick(() => void this.#send());
    return await new Promise<QueryResult<R>>((resolve, reject) => {
      this.#travelling.push({ query, resolve, reject });
    });
  }

  async #send(): Promise<void> {
    const sent = this.#travelling;
    this.#travelling = [];
    try {
      await this.#connections.provideConnection(async (connection) => {
        const { client, isEnding } = connection as PooledConnection;
        // After an error in this process, the rollback is sent first.
        if (isEnding) throw new Error('the transaction ended before the statement was sent');
        const last = sent.findLastIndex(({ resolve }) => resolve !== undefined);
        for (const each of sent.slice(0, last)) client.queryWithNext(waitingOf(each));
        const { query, resolve } = sent[last] as Travelling;
        const result = client.query(query.sql, [...query.parameters]);
        // The next statement of the transaction, or its commit, reports the errors of the others.
        for (const each of sent.slice(last + 1)) client.queryWithNext(waitingOf(each));
        resolve?.(printResult(await result));
      });
    } catch (error) {
      for (const { reject } of sent) reject?.(error);
    }
  }

  streamQuery = neverStreams;
}

function waitingOf({ query, resolve }: Travelling): Parameters<Client['queryWithNext']>[0] {
  const statement = { text: query.sql, values: query.parameters };
  return resolve === undefined
    ? statement
    : { ...statement, onResult: (result) => resolve(printResult(result)) };
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
    const askedAtMs = performance.now();
    const client = (await this.#pool.connect()) as unknown as Client;
    client.waitedMs = performance.now() - askedAtMs;
    let connection = this.#connections.get(client);
    if (connection === undefined) {
      connection = new PooledConnection(client);
      this.#connections.set(client, connection);
    }
    return connection;
  }

  async beginTransaction(connection: PooledConnection, settings: TransactionSettings): Promise<void> {
    connection.isEnding = false;
    const level = settings.isolationLevel && ` isolation level ${settings.isolationLevel}`;
    const mode = settings.accessMode && ` ${settings.accessMode}`;
    connection.client.queryWithNext({ text: `begin${level ?? ''}${mode ?? ''}`, values: [] });
  }

  async commitTransaction(connection: PooledConnection): Promise<void> {
    connection.isEnding = true;
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: PooledConnection): Promise<void> {
    connection.isEnding = true;
    if (!connection.client.forget()) return;
    // It fails only without a connection, and the pool then opens another. The caller gets the error before it, which says
    // if the transaction may have been committed.
    await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => {});
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
  /** True if the transaction's commit or rollback was sent. */
  isEnding = false;

  constructor(client: Client) {
    this.client = client;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query;
    // Waiting statements belong to the savepoint. If one of them failed, Postgres would skip the rollback.
    if (sql === ROLL_BACK_TO_SAVEPOINT) this.client.forget();
    const isBehind = sentBehindNext.has(query);
    if (isBehind || sentWithNext.has(query)) {
      const statement = { text: sql, values: parameters };
      if (isBehind) this.client.queryBehindNext(statement);
      else this.client.queryWithNext(statement);
      return { rows: [] };
    }
    return printResult<R>(await this.client.query(sql, [...parameters]));
  }

  streamQuery = neverStreams;
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

function printResult<R>({ command, rowCount, rows }: Result): QueryResult<R> {
  return {
    ...(WRITES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
    rows: (rows ?? []) as R[],
  };
}

function neverStreams(): never {
  throw new Error('a pool does not stream rows');
}
