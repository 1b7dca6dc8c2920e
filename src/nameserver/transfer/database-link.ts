// A connection to Postgres that is opened on demand and replaced after it has ended.

import { type Connection, connect } from '../../store/postgres/connection.ts';

const CONNECT_TIMEOUT_MS = 2000;
/** After a failure, calls fail immediately for this long, so that an unavailable server costs no waiting. */
const RETRY_MS = 1000;

/** A channel whose notifications the connection receives. Those sent while it is closed are lost. */
interface Channel {
  readonly name: string;
  readonly onNotification: (payload: string | undefined) => void;
}

export class DatabaseLink {
  readonly #url: string;
  readonly #applicationName: string;
  readonly #channel: Channel | undefined;
  readonly #stopping = new AbortController();
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(url: string, applicationName: string, channel?: Channel) {
    this.#url = url;
    this.#applicationName = applicationName;
    this.#channel = channel;
  }

  /** Returns the open connection, or opens one. Rejects if the server cannot be reached. */
  async get(): Promise<Connection> {
    if (this.#connection?.isOpen()) return this.#connection;
    if (performance.now() - this.#failedAtMs < RETRY_MS) throw new Error('Postgres is unavailable');
    this.#opening ??= this.#connect();
    return await this.#opening;
  }

  async #connect(): Promise<Connection> {
    const channel = this.#channel;
    try {
      const connection = await connect(this.#url, {
        applicationName: this.#applicationName,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        signal: this.#stopping.signal,
        ...(channel && { onNotification: ({ payload }) => channel.onNotification(payload) }),
      });
      if (channel !== undefined) await listen(connection, channel);
      this.#connection = connection;
      return connection;
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

async function listen(connection: Connection, { name }: Channel): Promise<void> {
  try {
    await connection.query(`listen ${name}`);
  } catch (error) {
    await connection.close();
    throw error;
  }
}
