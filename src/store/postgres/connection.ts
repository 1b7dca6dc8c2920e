// A connection to Postgres that detects a silently broken connection: every query has a deadline, which arriving rows
// extend. A query that misses it closes the connection.

import { Socket } from 'node:net';
import { Client, type Notification, Query, type QueryConfig, types } from 'pg';
import { PreparedStatements } from './prepared-statements.ts';

interface ConnectionOptions {
  applicationName: string;
  connectTimeoutMs?: number;
  onNotification?: (notification: Notification) => void;
  signal?: AbortSignal;
}

export interface Connection {
  /** Returns all rows, as arrays of columns. */
  query(text: string, values?: readonly unknown[], silenceMs?: number): Promise<unknown[][]>;
  /** Passes each row to `onRow` as it arrives, so that a large result is never completely in memory. */
  stream(
    text: string,
    values: readonly unknown[],
    onRow: (row: unknown[]) => void,
    silenceMs?: number,
  ): Promise<void>;
  /** Resolves when the connection is closed for any reason. */
  readonly ended: Promise<void>;
  isOpen(): boolean;
  close(): Promise<void>;
}

// The server too must detect a broken connection, because it holds the advisory lock. These settings need no privilege,
// and unix sockets ignore them.
const SESSION = `
  set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3;
  set tcp_user_timeout = 10000; set statement_timeout = '120s'; set lock_timeout = '5s'`;

/** Maximum time without a row, unless the query sets its own limit. */
const SILENCE_MS = 5000;
const CLOSE_TIMEOUT_MS = 1000;

export async function connect(url: string, options: ConnectionOptions): Promise<Connection> {
  const { connectTimeoutMs = 5000 } = options;
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    types: connectionTypes,
    stream: () => socket,
  });
  let open = true;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      open = false;
      resolve();
    };
    client.on('end', end);
    socket.on('close', end);
  });
  // The caller of a pending query gets the cause. Without a query, `ended` resolves.
  client.on('error', () => socket.destroy());
  if (options.onNotification !== undefined) client.on('notification', options.onNotification);
  const abort = () => socket.destroy(new Error('connecting to Postgres was aborted'));
  options.signal?.addEventListener('abort', abort);
  try {
    options.signal?.throwIfAborted();
    await client.connect();
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }

  const statements = new PreparedStatements();
  const stream: Connection['stream'] = (text, values, onRow, silenceMs = SILENCE_MS) =>
    new Promise((resolve, reject) => {
      if (!open) return reject(new Error('the connection to Postgres is closed'));
      const silent = () => socket.destroy(new Error(`Postgres was silent for ${silenceMs} ms`));
      const deadline = setTimeout(silent, silenceMs);
      let fault: unknown;
      const settle = (error?: unknown) => {
        clearTimeout(deadline);
        error === undefined ? resolve() : reject(error);
      };
      const name = statements.nameOf(text, values);
      const query = new Query({
        ...(name !== undefined && { name }),
        text,
        values: [...values],
        rowMode: 'array',
        types: connectionTypes,
      } as QueryConfig);
      query.on('row', (row) => {
        deadline.refresh();
        try {
          if (fault === undefined) onRow(row as unknown as unknown[]);
        } catch (error) {
          fault = error;
        }
      });
      query.on('end', () => settle(fault));
      query.on('error', (error) => {
        statements.noteFailure(error);
        settle(error);
      });
      client.query(query);
    });

  const connection: Connection = {
    stream,
    async query(text, values = [], silenceMs = SILENCE_MS) {
      const rows: unknown[][] = [];
      await stream(text, values, (row) => rows.push(row), silenceMs);
      return rows;
    },
    ended,
    isOpen: () => open,
    async close() {
      if (!open) return;
      const deadline = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
      await Promise.race([client.end().catch(() => undefined), ended]);
      clearTimeout(deadline);
      socket.destroy();
    },
  };
  try {
    await client.query(SESSION);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

const INT8 = 20;

export const connectionTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8 && format !== 'binary') return parseSafeInteger;
    return types.getTypeParser(oid, format as 'text');
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond 2^53`);
  return value;
}
