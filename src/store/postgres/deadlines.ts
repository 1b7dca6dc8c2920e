// Time limits of Postgres statements. The server cancels a statement itself, so that it does not run on after its
// client has disconnected. The client waits a little longer and then closes the connection, in case the server hangs.

import { type Kysely, sql } from 'kysely';
import type { Schema } from './tables/schema.ts';

export interface Limits {
  /** Timeout of statements that only read, outside of transactions, and of the start of a transaction. */
  readonly readMs: number;
  /** Timeout of all other statements. */
  readonly writeMs: number;
}

/** Timeout of waiting for a connection. Together with the first statement it is less than 10 s. */
export const CONNECT_TIMEOUT_MS = 4000;
export const SERVICE_LIMITS: Limits = { readMs: 5000, writeMs: 8000 };
/** Limits for operators' commands, which read and sort whole zones. */
export const OPERATOR_LIMITS: Limits = { readMs: 30_000, writeMs: 120_000 };
/** Limit for a statement in a transaction that writes many rows, and for the pauses in which these are planned. */
const LONG_MS = 120_000;
/** The number of rows from which a transaction counts as long. */
export const LONG_ROWS = 5000;
/** Limit of a migration, which may rewrite every table, and waits for another process that migrates. */
const MIGRATION_MS = 3_600_000;

/** The server's limit is this much shorter than the client's, so that the connection survives. */
const SERVER_FIRST_MS = 500;
/** The share of a statement's time that it may wait for a lock, so that the error shows which limit was exceeded. */
const LOCK_SHARE = 0.8;
const IDLE_IN_TRANSACTION_MS = 30_000;
/** A transaction may take as long as this many statements. */
const STATEMENTS_PER_TRANSACTION = 3;

/** Returns the session settings of a pooled connection. Unix sockets ignore those of TCP. */
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
    'set jit = off', // overestimated statements would take longer to compile than to run
    // As for SSDs. With the default, a table without statistics is read completely instead of by its index.
    'set random_page_cost = 1.1',
  ].join('; ');
}

/** Raises this transaction's time limits on server and client, because it writes many rows. */
export async function allowLong(trx: Kysely<Schema>): Promise<void> {
  const limits = `set_config('statement_timeout', '${LONG_MS}', true), set_config('idle_in_transaction_session_timeout', '${LONG_MS}', true)`;
  await sql.raw(`select ${limits}`).execute(trx);
}

/** Runs `work` on one connection with the limits of a migration, and then restores the connection's own limits. */
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

const SETS_LIMIT = /\bset statement_timeout = '?(\d+)(ms|s|min|h|d)?'?/;
const SETS_LOCAL_LIMIT = /\bset_config\('statement_timeout', '(\d+)', true\)/;
const UNITS = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BEGINS = /^begin\b/;
const READS = /^\s*select\b(?!.*\bfor (no key )?update\b)/s;

export function beginsTransaction(text: string): boolean {
  return BEGINS.test(text);
}

/** Determines the deadlines of a connection's statements from what it sends to the server. Pure: no clock, no I/O. */
export class ConnectionDeadlines {
  readonly #limits: Limits;
  #sessionMs: number;
  #transactionMs: number | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#sessionMs = limits.writeMs;
  }

  /** Records the settings that the statement changes. Returns its limit. */
  send(text: string): { readonly statementMs: number; readonly begins: boolean } {
    const [, count, unit = 'ms'] = SETS_LIMIT.exec(text) ?? [];
    if (count !== undefined)
      this.#sessionMs = Number(count) * UNITS[unit as keyof typeof UNITS] + SERVER_FIRST_MS;
    const [, localMs] = SETS_LOCAL_LIMIT.exec(text) ?? [];
    if (localMs !== undefined && this.#transactionMs !== undefined)
      this.#transactionMs = Number(localMs) + SERVER_FIRST_MS;
    const begins = beginsTransaction(text);
    if (begins) this.#transactionMs = this.#sessionMs;
    const isQuick = begins || (this.#transactionMs === undefined && READS.test(text));
    const statementMs =
      isQuick && this.#sessionMs === this.#limits.writeMs
        ? this.#limits.readMs
        : (this.#transactionMs ?? this.#sessionMs);
    return { statementMs, begins };
  }

  /**
   * Does the same for statements that are answered together. They have the limit of one statement, although each may wait
   * for a lock. The time that the caller waited for the connection is part of the limit of those that begin a
   * transaction, so that both together remain below 10 s.
   */
  sendTogether(
    texts: readonly string[],
    waitedMs: number,
  ): { readonly statementMs: number; readonly begins: boolean } {
    const sent = texts.map((text) => this.send(text));
    const limits = sent.map(({ statementMs }) => statementMs);
    const begins = sent.some((each) => each.begins);
    const statementMs = Math.max(...limits);
    return {
      statementMs: begins ? Math.max(statementMs - waitedMs, Math.min(...limits)) : statementMs,
      begins,
    };
  }

  /** The limit of the current transaction, from its start. Undefined outside of a transaction. */
  get transactionMs(): number | undefined {
    return this.#transactionMs === undefined ? undefined : this.#transactionMs * STATEMENTS_PER_TRANSACTION;
  }

  endTransaction(): void {
    this.#transactionMs = undefined;
  }
}
