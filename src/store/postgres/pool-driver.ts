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

const sentWithNext = new WeakSet<CompiledQuery>();
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

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#travelling.length === 0) process.nextTick(() => void this.#send());
    if (sentWithNext.has(query)) {
      this.#travelling.push({ query });
      return Promise.resolve({ rows: [] });
    }
    return new Promise<QueryResult<R>>((resolve, reject) => {
      this.#travelling.push({ query, resolve, reject });
    });
  }

  async #send(): Promise<void> {
    const sent = this.#travelling;
    this.#travelling = [];
    try {
      await this.#connections.provideConnection(async (connection) => {
        const { client } = connection as PooledConnection;
        for (const { query, resolve } of sent.slice(0, -1)) {
          const { sql: text, parameters: values } = query;
          const onResult = resolve && ((result: Result) => resolve(printResult(result)));
          client.queryWithNext({ text, values, ...(onResult && { onResult }) });
        }
        const last = sent.at(-1) as Travelling;
        const { sql: text, parameters: values } = last.query;
        const result = await client.query(text, [...values]);
        last.resolve?.(printResult(result));
      });
    } catch (error) {
      for (const { reject } of sent) reject?.(error);
    }
  }

  streamQuery = neverStreams;
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

  async beginTransaction({ client }: PooledConnection, settings: TransactionSettings): Promise<void> {
    const level = settings.isolationLevel && ` isolation level ${settings.isolationLevel}`;
    const mode = settings.accessMode && ` ${settings.accessMode}`;
    client.queryWithNext({ text: `begin${level ?? ''}${mode ?? ''}`, values: [] });
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
      this.client.queryWithNext({ text: sql, values: parameters });
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
