// A connection to Postgres that is opened on demand and replaced after it has ended.

import { type Connection, connect } from '../../store/postgres/connection.ts';

const CONNECT_TIMEOUT_MS = 2000;
/** After a failure, calls fail immediately for this long, so that an unavailable server costs no waiting. */
const RETRY_MS = 1000;

export class DatabaseLink {
  readonly #url: string;
  readonly #applicationName: string;
  readonly #stopping = new AbortController();
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(url: string, applicationName: string) {
    this.#url = url;
    this.#applicationName = applicationName;
  }

  /** Returns the open connection, or opens one. Rejects if the server cannot be reached. */
  async get(): Promise<Connection> {
    if (this.#connection?.isOpen()) return this.#connection;
    if (performance.now() - this.#failedAtMs < RETRY_MS) throw new Error('Postgres is unavailable');
    this.#opening ??= this.#connect();
    return await this.#opening;
  }

  async #connect(): Promise<Connection> {
    try {
      this.#connection = await connect(this.#url, {
        applicationName: this.#applicationName,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        signal: this.#stopping.signal,
      });
      return this.#connection;
    } catch (error) {
      this.#failedAtMs = performance.now();
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#opening?.catch(() => undefined);
    await this.#connection?.close();
  }
}
