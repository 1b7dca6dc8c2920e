// A pooled connection that closes itself if Postgres does not reply in time: the caller gets an error, and the pool
// opens another connection. It prepares statements that the pool repeats.

import type { Socket } from 'node:net';
import { Client, type ClientConfig, type QueryResult } from 'pg';
import { beginsTransaction, ConnectionDeadlines, type Limits, SERVICE_LIMITS } from './deadlines.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { type KnownColumns, type Statement, StatementGroup } from './statement-group.ts';

type Callback = (error: Error | null, result: QueryResult) => void;

/** Postgres did not reply in time, and the connection was closed. */
export class DatabaseSilence extends Error {
  override readonly name = 'DatabaseSilence';
}

/** Returns true if the error belongs to a commit whose outcome is unknown. */
export function mayBeCommitted(error: unknown): boolean {
  return unknownCommits.has(error as object);
}
const unknownCommits = new WeakSet<object>();

interface Pending {
  readonly timer: NodeJS.Timeout;
}

interface BoundedClientConfig extends ClientConfig {
  readonly limits?: Limits;
  /** The statements of the pool. By default, the connection counts its own. */
  readonly statements?: PreparedStatements;
}

interface GivenStatement extends Pick<Statement, 'text' | 'values'> {
  readonly onResult?: (result: QueryResult) => void;
}

type WaitingStatement = GivenStatement & Pick<Statement, 'name'>;

export class BoundedClient extends Client {
  readonly #deadlines: ConnectionDeadlines;
  readonly #statements: PreparedStatements;
  readonly #columns: KnownColumns = new Map();
  readonly #pending = new Set<Pending>();
  /** Statements that are sent with the next one. */
  #waiting: WaitingStatement[] = [];
  /** Statements that are sent behind the next one. */
  #following: WaitingStatement[] = [];
  /** Time that the caller waited for this connection. */
  waitedMs = 0;
  #socket: Socket | undefined;
  #transaction: NodeJS.Timeout | undefined;
  #transactionBoundMs = 0;
  #begunAtMs = 0;
  #silence: DatabaseSilence | undefined;

  constructor(config?: string | BoundedClientConfig) {
    super(config);
    const { limits, statements } = typeof config === 'object' ? config : {};
    this.#deadlines = new ConnectionDeadlines(limits ?? SERVICE_LIMITS);
    this.#statements = statements ?? new PreparedStatements();
    this.on('end', () => this.#endTransaction());
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own overloads, passed through
  override query(first: any, second?: any, third?: any): any {
    if (typeof first?.submit === 'function') return super.query(first, second, third);
    const text: string = typeof first === 'string' ? first : first.text;
    const values: unknown[] | undefined = Array.isArray(second) ? second : undefined;
    const isSetting = text.startsWith('set '); // may contain several statements, which cannot be prepared
    const mayPrepare = typeof first === 'string' && values !== undefined && third === undefined && !isSetting;
    const waiting = this.#waiting.at(-1);
    if (waiting !== undefined && !mayPrepare) {
      this.#waiting.pop();
      return this.#queryTogether(waiting).then((result) => {
        waiting.onResult?.(result);
        return this.query(first, second, third);
      });
    }
    if (mayPrepare) {
      const statement = this.#named({ text, values });
      const isAlone = waiting === undefined && this.#following.length === 0;
      if (!isAlone || statement.name !== undefined) return this.#queryTogether(statement);
    }
    const callback: Callback | undefined = [second, third].find((each) => typeof each === 'function');
    const settle = this.#watch([text]);
    if (callback === undefined) {
      return super.query(first, values).then(
        (result) => {
          settle();
          return result;
        },
        (error) => {
          throw settle(error);
        },
      );
    }
    return super.query(first, values as unknown[], (error, result) =>
      callback(error ? (settle(error) as Error) : (settle() as null), result),
    );
  }

  /** Keeps the statement until the next one, which is sent together with it and fails if it fails. */
  queryWithNext(statement: GivenStatement): void {
    this.#waiting.push(this.#named(statement));
  }

  /** Keeps the statement until the next one. It is carried out behind that one, if that succeeds. Its errors are ignored. */
  queryBehindNext(statement: Pick<Statement, 'text' | 'values'>): void {
    this.#following.push(this.#named(statement));
  }

  /** Discards the statements that were not sent. Returns true if a transaction was begun before them. */
  forget(): boolean {
    const isBegun = !this.#waiting.some(({ text }) => beginsTransaction(text));
    this.#waiting = [];
    this.#following = [];
    return isBegun;
  }

  #named(statement: GivenStatement): WaitingStatement {
    return { ...statement, name: this.#statements.nameOf(statement.text, statement.values) };
  }

  #queryTogether(statement: WaitingStatement): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const sent = [...this.#waiting, { ...statement, onResult: resolve }, ...this.#following];
      this.#waiting = [];
      this.#following = [];
      const settle = this.#watch(sent.map(({ text }) => text));
      const statements = sent.map(
        ({ text, values, name, onResult }): Statement => ({
          text,
          values,
          name,
          returns: onResult !== undefined,
        }),
      );
      const group = new StatementGroup(statements, this.#columns, (error, results) => {
        if (error) return reject(settle(error));
        settle();
        let next = 0;
        for (const { onResult } of sent) onResult?.(results[next++] as QueryResult);
      });
      super.query(group);
    });
  }

  /**
   * Starts the timer of statements that are answered together. Returns a function that stops it and returns the error to
   * report.
   */
  #watch(texts: readonly string[]): (error?: Error) => unknown {
    const { statementMs, begins } = this.#deadlines.sendTogether(texts, this.waitedMs);
    this.#socket ??= this.#followSocket();
    const pending: Pending = {
      timer: setTimeout(() => this.#expire(pending, statementMs), statementMs),
    };
    this.#pending.add(pending);
    const { transactionMs } = this.#deadlines;
    if (transactionMs !== undefined) this.#boundTransaction(begins, transactionMs);
    const isLast = texts.includes('commit') || (transactionMs === undefined && texts.at(-1) !== 'rollback');
    const wasOpen = this.#silence === undefined;
    return (error) => {
      clearTimeout(pending.timer);
      this.#pending.delete(pending);
      if (error === undefined) {
        const isOver = texts.includes('commit') || this.getTransactionStatus() === 'I';
        if (this.#pending.size === 0 && isOver) this.#endTransaction();
        return null;
      }
      this.#statements.noteFailure(error);
      const reported = this.#silence ?? error;
      const fromServer = 'severity' in error;
      if (!fromServer && isLast && wasOpen) unknownCommits.add(reported);
      return reported;
    };
  }

  #followSocket(): Socket {
    const { stream } = this.connection as unknown as { stream: Socket };
    stream.on('data', () => {
      for (const { timer } of this.#pending) timer.refresh();
    });
    return stream;
  }

  /** Closes the connection, unless data has arrived while this process was busy. */
  #expire(pending: Pending, statementMs: number): void {
    const read = this.#socket?.bytesRead;
    setImmediate(() => {
      if (!this.#pending.has(pending)) return;
      if (this.#socket?.bytesRead !== read) pending.timer.refresh();
      else this.#give(`the database did not respond within ${statementMs} ms`);
    });
  }

  #boundTransaction(begins: boolean, boundMs: number): void {
    if (!begins && boundMs === this.#transactionBoundMs) return;
    clearTimeout(this.#transaction);
    if (begins) this.#begunAtMs = performance.now();
    this.#transactionBoundMs = boundMs;
    const left = boundMs - (performance.now() - this.#begunAtMs);
    this.#transaction = setTimeout(() => {
      this.#give(`a transaction took longer than ${boundMs} ms`);
    }, left);
  }

  #endTransaction(): void {
    clearTimeout(this.#transaction);
    this.#transaction = undefined;
    this.#transactionBoundMs = 0;
    this.#deadlines.endTransaction();
  }

  #give(why: string): void {
    this.#silence ??= new DatabaseSilence(why);
    this.#endTransaction();
    this.#socket?.destroy(this.#silence);
  }
}
