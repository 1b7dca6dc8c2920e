// Connects BullMQ to its backend: Postgres, in its own schema besides Zonefleet's, or Redis. The Postgres backend is
// made to reconnect here. Without this, it would keep a failed first connection forever, and treat a broken one as an
// error of the job.

import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  type ConnectionOptions,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
} from 'bullmq';

export interface QueuePlace {
  readonly databaseUrl: string;
  /** Undefined if the queue is in Postgres. */
  readonly redisUrl: string | undefined;
}

/** Options for creating a Queue or a Worker. */
interface QueueConnection {
  readonly factory: BackendFactory<IQueueBackend>;
  readonly options: { readonly connection: ConnectionOptions; readonly prefix: string };
}

type ConnectionUse =
  /** Adds jobs. It must not wait long, because an HTTP request waits for it. */
  | 'producer'
  /** Takes jobs from the queue, and waits for the backend for any time. */
  | 'worker';

const QUEUE_SCHEMA = 'bullmq';
/** Maximum wait of a producer's call, because a caller waits for its result. */
export const PRODUCER_TIMEOUT_MS = 2000;

const PREFIX = 'zonefleet'; // of the keys in Redis
const PRODUCER_CONNECT_MS = 1500;
const PRODUCER_CONNECTIONS = 2;
const WORKER_CONNECTIONS = 4;
const WORKER_QUERY_MS = 30_000;
const WORKER_CONNECT_MS = 5000;
const RETRY_MS = 1000;
const LONGEST_BLOCK_SECONDS = 5;

/** `onTrouble` is called for every failed call, even if the call is retried. */
export function connectQueue(
  { databaseUrl, redisUrl }: QueuePlace,
  use: ConnectionUse,
  onTrouble: (error: Error) => void,
  connections?: number,
): QueueConnection {
  if (redisUrl !== undefined) {
    return {
      factory: (name, options, more) => withRetryDelay(createRedisBackend(name, options, more), onTrouble),
      options: { connection: { url: redisUrl, ...redisOptions(use) }, prefix: PREFIX },
    };
  }
  return {
    factory: (name, options, more) =>
      withRetryDelay(
        withReconnect(createPostgresBackend(name, options as never, more), onTrouble),
        onTrouble,
      ),
    options: {
      connection: postgresOptions(databaseUrl, use, connections) as ConnectionOptions,
      prefix: PREFIX,
    },
  };
}

/** Migrates BullMQ's tables, if any. Rejects if a table is missing that the role may not create. */
export async function migrateQueue(
  { databaseUrl, redisUrl }: QueuePlace,
  queues: readonly string[],
): Promise<void> {
  if (redisUrl !== undefined) return;
  try {
    await connectOnce(databaseUrl, queues);
  } catch (error) {
    if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
    await connectOnce(databaseUrl, undefined);
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Migrates the tables unless `queues` is undefined. Rejects if they do not fit. */
async function connectOnce(databaseUrl: string, queues: readonly string[] | undefined): Promise<void> {
  const connection = { ...postgresOptions(databaseUrl, 'worker'), max: 1, migrate: queues !== undefined };
  const backend = createPostgresBackend('migrations', { connection });
  backend.on('error', () => {}); // the call below rejects with the same error
  try {
    await backend.waitUntilReady();
    if (queues !== undefined) await makeSequences(backend, queues);
  } finally {
    await backend.close();
  }
}

/** Creates the sequences of job numbers, because the processes' roles may not when BullMQ would do so. */
async function makeSequences(backend: IQueueBackend, queues: readonly string[]): Promise<void> {
  const { pool } = (backend as unknown as PostgresParts).connection;
  const make =
    'select next_job_id(name) from unnest($1::text[]) name where to_regclass(job_id_seq_name(name)) is null';
  await pool.query(make, [queues]);
}

function redisOptions(use: ConnectionUse): object {
  const retryStrategy = (times: number) => Math.min(times * 100, RETRY_MS);
  if (use === 'worker') return { maxRetriesPerRequest: null, retryStrategy, keepAlive: 10_000 };
  return {
    // Do not send commands later: their callers have already received an error.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: PRODUCER_CONNECT_MS,
    commandTimeout: PRODUCER_TIMEOUT_MS,
    keepAlive: 10_000,
    retryStrategy,
  };
}

function postgresOptions(databaseUrl: string, use: ConnectionUse, connections = WORKER_CONNECTIONS) {
  const { connectionString, options } = takeOptions(databaseUrl);
  const isProducer = use === 'producer';
  return {
    connectionString,
    schema: QUEUE_SCHEMA,
    max: isProducer ? PRODUCER_CONNECTIONS : connections,
    connectionTimeoutMillis: isProducer ? PRODUCER_CONNECT_MS : WORKER_CONNECT_MS,
    query_timeout: isProducer ? PRODUCER_TIMEOUT_MS : WORKER_QUERY_MS,
    keepAlive: true,
    options: [...options, ...PLANNING, ...LIMITS, ...(isProducer ? [] : [ASYNC_COMMIT])].join(' '),
  };
}

/**
 * Settings for plans. All statements of BullMQ can use an index, but their plans are cached, and made while the
 * tables are nearly empty. Then a sequential scan looks cheaper, but it is slow once the table has dead rows.
 */
const PLANNING = ['-c enable_seqscan=off', '-c jit=off'];
/** The server cancels statements of a lost client shortly before the worker itself would give up. */
const LIMITS = [
  '-c statement_timeout=29500',
  '-c lock_timeout=20000',
  '-c idle_in_transaction_session_timeout=30000',
];
/** If Postgres crashes, the last state changes of a job may be lost. The job then runs again, which is harmless. */
const ASYNC_COMMIT = '-c synchronous_commit=off';

/** BullMQ sets the schema in the `options` of a connection, which the options of a URL would replace. */
function takeOptions(databaseUrl: string): { connectionString: string; options: string[] } {
  const [, options] = /[?&]options=([^&]*)/.exec(databaseUrl) ?? [];
  if (options === undefined) return { connectionString: databaseUrl, options: [] };
  const rest = databaseUrl.replace(/([?&])options=[^&]*&?/, '$1').replace(/[?&]$/, '');
  return { connectionString: rest, options: [decodeURIComponent(options.replaceAll('+', ' '))] };
}

/** Part of BullMQ that remembers its first connection attempt, successful or failed. */
interface Remembering {
  readyPromise: Promise<void> | undefined;
  waitUntilReady(): Promise<void>;
}

/** Parts of BullMQ's connection that are changed here. */
interface PostgresParts extends Remembering {
  connection: Remembering & {
    pool: {
      query(statement: string | Statement, values?: unknown[]): Promise<unknown>;
      on(
        event: 'connect',
        listener: (client: { on(event: 'error', listener: () => void): void }) => void,
      ): void;
    };
  };
}

/** Error code of a rejected job state change, which is not an outage. */
const REFUSED_MOVE = 'BM001';

function withReconnect<B extends IQueueBackend>(backend: B, onTrouble: (error: Error) => void): B {
  const parts = backend as unknown as PostgresParts;
  const { pool } = parts.connection;
  for (const part of [parts.connection, parts]) {
    const waitUntilReady = part.waitUntilReady.bind(part);
    part.waitUntilReady = async () => {
      try {
        await waitUntilReady();
      } catch (error) {
        part.readyPromise = undefined;
        throw part === parts ? error : asOutage(error as Error, onTrouble);
      }
    };
  }
  // The query on the connection rejects with the same error and reports it.
  pool.on('connect', (client) => client.on('error', () => {}));
  const query = pool.query.bind(pool);
  let isPreparing = true;
  pool.query = async (statement, values) => {
    try {
      return await (isPreparing ? query(prepared(statement, values)) : query(statement, values));
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === REFUSED_MOVE) throw error;
      if (code !== undefined && UNPREPARABLE.has(code)) isPreparing = false;
      throw asOutage(error as Error, onTrouble);
    }
  };
  // After a failed LISTEN, it would wait up to an hour for a notification.
  Object.defineProperty(backend, 'maximumBlockTimeout', { get: () => LONGEST_BLOCK_SECONDS });
  return backend;
}

/** Statement in the form that `pg` accepts. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

const statementNames = new Map<string, string>();

/** Errors of prepared statements if BullMQ changed its tables, or if a pooler switches connections. */
const UNPREPARABLE = new Set(['0A000', '26000', '42P05']);

/** Names the statement, so that each connection plans it once. */
function prepared(statement: string | Statement, values: unknown[] | undefined): string | Statement {
  if (typeof statement !== 'string' || values === undefined) return statement;
  const name = statementNames.get(statement) ?? `queue_${statementNames.size + 1}`;
  statementNames.set(statement, name);
  return { name, text: statement, values };
}

/** Converts an error so that BullMQ retries the connection. Omits the `cause`, which the log would repeat. */
function asOutage(error: Error, onTrouble: (error: Error) => void): Error {
  onTrouble(error);
  return Object.assign(new Error(error.message), { code: 'ECONNREFUSED', stack: error.stack });
}

/** Delays the retry of a failed fetch, because a worker would retry it without a pause. */
function withRetryDelay<B extends IQueueBackend>(backend: B, onTrouble: (error: Error) => void): B {
  const moveToActive = backend.moveToActive.bind(backend);
  backend.moveToActive = async (...args) => {
    try {
      return await moveToActive(...args);
    } catch (error) {
      onTrouble(error as Error);
      await pause(RETRY_MS);
      throw error;
    }
  };
  return backend;
}
