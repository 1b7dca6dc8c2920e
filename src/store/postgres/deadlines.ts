// How long Postgres may take. The server cancels a statement by itself, so that nothing goes on for a client that is
// gone. The client waits a little longer and then ends the connection, since a server that hangs cancels nothing.

import { type Kysely, sql } from 'kysely';
import type { Schema } from './tables/schema.ts';

export interface Limits {
  /** How long a statement that only reads, outside of a transaction, may be silent; also the beginning of a transaction. */
  readonly readMs: number;
  /** How long every other statement may take. */
  readonly writeMs: number;
}

/** How long a call may wait for a connection. Together with the first statement, it is less than 10 s. */
export const CONNECT_TIMEOUT_MS = 4000;
/** The limits for calls that people and jobs wait for. */
export const SERVICE_LIMITS: Limits = { readMs: 5000, writeMs: 8000 };
/** The limits for an operator's commands, which read and sort whole zones at once. */
export const OPERATOR_LIMITS: Limits = { readMs: 30_000, writeMs: 120_000 };
/** The limit for a statement of a transaction that writes many rows, and for the pauses in which those are planned. */
const LONG_MS = 120_000;
/** The number of rows from which a transaction counts as long. */
export const LONG_ROWS = 5000;
/** The limit of a migration, which may rewrite every table, and waits for another process that migrates. */
const MIGRATION_MS = 3_600_000;

/** How much earlier the server gives up than the client: then the connection survives. */
const SERVER_FIRST_MS = 500;
/** The share of a statement's time that it may wait for a lock, so that the error can say which limit it was. */
const LOCK_SHARE = 0.8;
const IDLE_IN_TRANSACTION_MS = 30_000;
/** A transaction may take as long as this many of its statements. */
const STATEMENTS_A_TRANSACTION = 3;

/** The settings with which a connection of a pool begins. A unix socket ignores those of TCP. */
export function sessionSettings({ writeMs }: Limits): string {
  const statementMs = writeMs - SERVER_FIRST_MS;
  return [
    `set statement_timeout = ${statementMs}`,
    `set lock_timeout = ${Math.round(statementMs * LOCK_SHARE)}`,
    `set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
    'set tcp_keepalives_idle = 5',
    'set tcp_keepalives_interval = 2',
    'set tcp_keepalives_count = 3',
    `set tcp_user_timeout = ${writeMs}`,
    'set jit = off', // it would compile, for longer than they run, statements whose number of rows Postgres takes for large
  ].join('; ');
}

/** Gives this transaction the time that many rows need, on server and client. */
export async function allowLong(trx: Kysely<Schema>): Promise<void> {
  const limits = `set local statement_timeout = ${LONG_MS}; set local idle_in_transaction_session_timeout = ${LONG_MS}`;
  await sql.raw(limits).execute(trx);
}

/** Gives the work on one connection the time of a migration, and then restores the connection's own limits. */
export async function withMigrationLimits<T>(
  db: Kysely<Schema>,
  work: (connection: Kysely<Schema>) => Promise<T>,
): Promise<T> {
  return await db.connection().execute(async (connection) => {
    const { rows } = await sql<{ statement: string; lock: string }>`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`.execute(
      connection,
    );
    const before = rows[0] as { statement: string; lock: string };
    await sql.raw(`set statement_timeout = ${MIGRATION_MS}; set lock_timeout = 0`).execute(connection);
    try {
      return await work(connection);
    } finally {
      const back = `set statement_timeout = '${before.statement}'; set lock_timeout = '${before.lock}'`;
      await sql.raw(back).execute(connection);
    }
  });
}

const SETS_LIMIT = /\bset (local )?statement_timeout = '?(\d+)(ms|s|min|h|d)?'?/;
const UNITS = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BEGINS = /^(begin|start transaction)\b/;
const READS = /^\s*select\b(?!.*\bfor (no key )?update\b)/s;

/**
 * The deadlines of one connection's statements, which follow from what it sends to the server. Pure: no clock, no I/O.
 */
export class ConnectionDeadlines {
  readonly #limits: Limits;
  #sessionMs: number;
  #transactionMs: number | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#sessionMs = limits.writeMs;
  }

  /** Records what the statement changes, and says how long it may take. */
  send(text: string): { readonly statementMs: number; readonly begins: boolean } {
    const [, isLocal, count, unit = 'ms'] = SETS_LIMIT.exec(text) ?? [];
    if (count !== undefined) {
      const ms = Number(count) * UNITS[unit as keyof typeof UNITS] + SERVER_FIRST_MS;
      if (isLocal === undefined) this.#sessionMs = ms;
      else if (this.#transactionMs !== undefined) this.#transactionMs = ms;
    }
    const begins = BEGINS.test(text);
    if (begins) this.#transactionMs = this.#sessionMs;
    const isQuick = begins || (this.#transactionMs === undefined && READS.test(text));
    const statementMs =
      isQuick && this.#sessionMs === this.#limits.writeMs
        ? this.#limits.readMs
        : (this.#transactionMs ?? this.#sessionMs);
    return { statementMs, begins };
  }

  /** The limit of the current transaction, from its begin; undefined outside of one. */
  get transactionMs(): number | undefined {
    return this.#transactionMs === undefined ? undefined : this.#transactionMs * STATEMENTS_A_TRANSACTION;
  }

  endTransaction(): void {
    this.#transactionMs = undefined;
  }
}
