// Where BullMQ keeps its jobs: in Postgres, in a schema of its own beside ours, or in Redis. Its Postgres backend is made
// steady here: it would remember a first connection that failed for good, and take a broken one for a fault of the job.

import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  type ConnectionOptions,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
} from 'bullmq';
import { QUEUES } from './jobs.ts';

export interface QueuePlace {
  readonly databaseUrl: string;
  /** Undefined: the queue is in Postgres. */
  readonly redisUrl: string | undefined;
}

/** What Queue and Worker are made with. */
export interface QueueConnection {
  readonly factory: BackendFactory<IQueueBackend>;
  readonly options: { readonly connection: ConnectionOptions; readonly prefix: string };
}

export type ConnectionUse =
  /** Puts jobs in and must not wait: an HTTP request stands behind it. */
  | 'producer'
  /** Takes jobs out and waits for the backend however long it is gone. */
  | 'worker';

export const QUEUE_SCHEMA = 'bullmq';
/** What nobody who waits for an answer waits longer than. */
export const PRODUCER_TIMEOUT_MS = 2000;

const PREFIX = 'zonefleet'; // of the keys in Redis
const PRODUCER_CONNECT_MS = 1500;
const PRODUCER_CONNECTIONS = 2;
const WORKER_CONNECTIONS = 4;
const WORKER_QUERY_MS = 30_000;
const WORKER_CONNECT_MS = 5000;
const RETRY_MS = 1000;
const LONGEST_BLOCK_SECONDS = 5;

/** `onTrouble` hears of every failed call, also of those that are tried again. */
export function connectQueue(
  { databaseUrl, redisUrl }: QueuePlace,
  use: ConnectionUse,
  onTrouble: (error: Error) => void,
  connections?: number,
): QueueConnection {
  if (redisUrl !== undefined) {
    return {
      factory: (name, options, more) => unhurried(createRedisBackend(name, options, more), onTrouble),
      options: { connection: { url: redisUrl, ...redisOptions(use) }, prefix: PREFIX },
    };
  }
  return {
    factory: (name, options, more) =>
      unhurried(steady(createPostgresBackend(name, options as never, more), onTrouble), onTrouble),
    options: {
      connection: postgresOptions(databaseUrl, use, connections) as ConnectionOptions,
      prefix: PREFIX,
    },
  };
}

/**
 * Brings BullMQ's own tables up to date; does nothing where there are none to have. A role that may not make tables finds
 * them made by `zonefleet migrate`, and says so when they are not.
 */
export async function migrateQueue({ databaseUrl, redisUrl }: QueuePlace): Promise<void> {
  if (redisUrl !== undefined) return;
  try {
    await connectOnce(databaseUrl, true);
  } catch (error) {
    if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
    await connectOnce(databaseUrl, false);
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Fails when the tables do not fit, after they were migrated if they are to be. */
async function connectOnce(databaseUrl: string, migrate: boolean): Promise<void> {
  const connection = { ...postgresOptions(databaseUrl, 'worker'), max: 1, migrate };
  const backend = createPostgresBackend('migrations', { connection });
  backend.on('error', () => {}); // the call below fails with it
  try {
    await backend.waitUntilReady();
    if (migrate) await makeSequences(backend);
  } finally {
    await backend.close();
  }
}

/** The first job of a queue would make the sequence of its numbers, which the processes' roles may not. */
async function makeSequences(backend: IQueueBackend): Promise<void> {
  const { pool } = (backend as unknown as PostgresParts).connection;
  const make =
    'select next_job_id(name) from unnest($1::text[]) name where to_regclass(job_id_seq_name(name)) is null';
  await pool.query(make, [QUEUES]);
}

function redisOptions(use: ConnectionUse): object {
  const retryStrategy = (times: number) => Math.min(times * 100, RETRY_MS);
  if (use === 'worker') return { maxRetriesPerRequest: null, retryStrategy, keepAlive: 10_000 };
  return {
    // Nothing is kept to be sent later: whoever asked has been told that it failed.
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
    options: [...options, ...PLANNING, ...LIMITS, ...(isProducer ? [] : [HURRY])].join(' '),
  };
}

/**
 * BullMQ's statements all have an index to go by. Their plans are kept, and made while the tables are all but empty: then
 * reading a whole table looks cheaper, and is not when dead rows are in it.
 */
const PLANNING = ['-c enable_seqscan=off', '-c jit=off'];
/** The server gives up what a client that is gone has begun: a little before a worker itself gives up. */
const LIMITS = [
  '-c statement_timeout=29500',
  '-c lock_timeout=20000',
  '-c idle_in_transaction_session_timeout=30000',
];
/** A crash of Postgres may forget the last moves of a job: it is then run again, which does no harm. */
const HURRY = '-c synchronous_commit=off';

/** BullMQ sets the schema by the `options` of a connection; those of a URL would displace it. */
function takeOptions(databaseUrl: string): { connectionString: string; options: string[] } {
  const [, options] = /[?&]options=([^&]*)/.exec(databaseUrl) ?? [];
  if (options === undefined) return { connectionString: databaseUrl, options: [] };
  const rest = databaseUrl.replace(/([?&])options=[^&]*&?/, '$1').replace(/[?&]$/, '');
  return { connectionString: rest, options: [decodeURIComponent(options.replaceAll('+', ' '))] };
}

/** A first connection, good or bad, that is remembered. */
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

/** What a job's own move was refused for, and no outage. */
const REFUSED_MOVE = 'BM001';

function steady<B extends IQueueBackend>(backend: B, onTrouble: (error: Error) => void): B {
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
  // An error of a connection in use fails its query, and is told there.
  pool.on('connect', (client) => client.on('error', () => {}));
  const query = pool.query.bind(pool);
  pool.query = async (statement, values) => {
    try {
      return await query(prepared(statement, values));
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

/** As `pg` takes it. */
interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

const statementNames = new Map<string, string>();

/** A newer BullMQ changed the tables, or a pooler gives each transaction another connection: from then on without. */
const UNPREPARABLE = new Set(['0A000', '26000', '42P05']);
let isPreparing = true;

/** Each connection plans a statement once. */
function prepared(statement: string | Statement, values: unknown[] | undefined): string | Statement {
  if (typeof statement !== 'string' || values === undefined) return statement;
  if (!isPreparing) return { text: statement, values };
  const name = statementNames.get(statement) ?? `queue_${statementNames.size + 1}`;
  statementNames.set(statement, name);
  return { name, text: statement, values };
}

/** In the form that BullMQ takes for a connection that is to be tried again; without a `cause`, which the log would repeat. */
function asOutage(error: Error, onTrouble: (error: Error) => void): Error {
  onTrouble(error);
  return Object.assign(new Error(error.message), { code: 'ECONNREFUSED', stack: error.stack });
}

/** A worker that cannot fetch asks again at once, as fast as it can. */
function unhurried<B extends IQueueBackend>(backend: B, onTrouble: (error: Error) => void): B {
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
