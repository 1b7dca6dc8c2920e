// Connects BullMQ to the place of its jobs: Postgres, in a schema of its own beside ours, or Redis. Its Postgres
// backend is made to reconnect here: by itself it would keep a failed first connection forever, and count a broken one
// as a fault of the job.

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
  /** Undefined: the queue is in Postgres. */
  readonly redisUrl: string | undefined;
}

/** The options for making a Queue or a Worker. */
interface QueueConnection {
  readonly factory: BackendFactory<IQueueBackend>;
  readonly options: { readonly connection: ConnectionOptions; readonly prefix: string };
}

type ConnectionUse =
  /** Adds jobs and must not wait long: an HTTP request waits for it. */
  | 'producer'
  /** Takes jobs out, and waits for the backend however long it is gone. */
  | 'worker';

const QUEUE_SCHEMA = 'bullmq';
/** The longest wait of a producer's call, since a caller waits for its answer. */
export const PRODUCER_TIMEOUT_MS = 2000;

const PREFIX = 'zonefleet'; // of the keys in Redis
const PRODUCER_CONNECT_MS = 1500;
const PRODUCER_CONNECTIONS = 2;
const WORKER_CONNECTIONS = 4;
const WORKER_QUERY_MS = 30_000;
const WORKER_CONNECT_MS = 5000;
const RETRY_MS = 1000;
const LONGEST_BLOCK_SECONDS = 5;

/** `onTrouble` is called for every failed call, also for those that are retried. */
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

/**
 * Brings BullMQ's own tables up to date, where the backend has any. A role that may not create tables expects those
 * that `zonefleet migrate` has made, and fails with a message if they are missing.
 */
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

/**
 * Creates the sequences of job numbers. BullMQ would do so at the first job of a queue, which the processes' roles may
 * not.
 */
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
    // Do not send commands later: their callers have already got an error.
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
 * Settings for plans. All BullMQ's statements can use an index, but their plans are cached, and made while the tables
 * are nearly empty: reading a whole table then looks cheaper, and is slow once the table has dead rows.
 */
const PLANNING = ['-c enable_seqscan=off', '-c jit=off'];
/** The server cancels what a client that is gone has begun, shortly before a worker itself gives up. */
const LIMITS = [
  '-c statement_timeout=29500',
  '-c lock_timeout=20000',
  '-c idle_in_transaction_session_timeout=30000',
];
/** A crash of Postgres may lose the last state changes of a job: the job then runs again, which does no harm. */
const ASYNC_COMMIT = '-c synchronous_commit=off';

/** BullMQ sets the schema by the `options` of a connection; those of a URL would displace it. */
function takeOptions(databaseUrl: string): { connectionString: string; options: string[] } {
  const [, options] = /[?&]options=([^&]*)/.exec(databaseUrl) ?? [];
  if (options === undefined) return { connectionString: databaseUrl, options: [] };
  const rest = databaseUrl.replace(/([?&])options=[^&]*&?/, '$1').replace(/[?&]$/, '');
  return { connectionString: rest, options: [decodeURIComponent(options.replaceAll('+', ' '))] };
}

/** BullMQ's connection remembers its first attempt, successful or failed. */
interface Remembering {
  readyPromise: Promise<void> | undefined;
  waitUntilReady(): Promise<void>;
}

/** The parts of BullMQ's connection that are changed. */
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

/** The code of a refused job state change, which is not an outage. */
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
  // After a failed LISTEN it would wait for a notification for up to an hour.
  Object.defineProperty(backend, 'maximumBlockTimeout', { get: () => LONGEST_BLOCK_SECONDS });
  return backend;
}

/** A statement as `pg` takes it. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

const statementNames = new Map<string, string>();

/**
 * Errors after which a pool no longer prepares statements: a newer BullMQ changed the tables, or a pooler gives each
 * transaction another connection.
 */
const UNPREPARABLE = new Set(['0A000', '26000', '42P05']);

/** Gives the statement a name, so that each connection plans it once. */
function prepared(statement: string | Statement, values: unknown[] | undefined): string | Statement {
  if (typeof statement !== 'string' || values === undefined) return statement;
  const name = statementNames.get(statement) ?? `queue_${statementNames.size + 1}`;
  statementNames.set(statement, name);
  return { name, text: statement, values };
}

/**
 * Turns an error into the form that makes BullMQ retry the connection; without a `cause`, which the log would repeat.
 */
function asOutage(error: Error, onTrouble: (error: Error) => void): Error {
  onTrouble(error);
  return Object.assign(new Error(error.message), { code: 'ECONNREFUSED', stack: error.stack });
}

/** Delays the retry of a failed fetch: a worker would else ask again at once, without a pause. */
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
