// Sends one query over TCP or TLS and reads the messages of its answer one by one, until the caller has all of them. At
// most one message is in memory.

import { connect, type Socket } from 'node:net';
import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';
import { framed, MessageReader } from '../exchange/message-reader.ts';
import { socketErrorText } from '../exchange/socket-error.ts';
import { connectTls, type PrimaryTls, pinFault, tlsErrorText } from './connect-tls.ts';
import type { Route } from './primary.ts';

interface StreamOptions {
  readonly signal: AbortSignal;
  /** Reads the next message. Returns true if it was the last one. */
  readonly accept: (message: Uint8Array) => boolean;
  /** Longest time until a message is complete. */
  readonly silenceMs: number;
  /** Longest time of the whole answer. */
  readonly totalMs: number;
  /** Undefined for TCP. */
  readonly tls?: PrimaryTls | undefined;
}

interface StreamFailure {
  readonly code: 'PRIMARY_SILENT' | 'PRIMARY_TLS';
  /** A predicate whose subject is the server. */
  readonly error: string;
}

const CONNECT_MS = 10_000;
/** Shorter, because TCP is tried next. */
const OPPORTUNISTIC_CONNECT_MS = 3000;

/** Returns undefined if the caller has all messages. Rejects only with the signal's reason when that aborts. */
export function readStream(
  route: Route,
  query: Uint8Array,
  options: StreamOptions,
): Promise<StreamFailure | undefined> {
  options.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    new MessageStream(route, query, options, { resolve, reject });
  });
}

interface Settle {
  readonly resolve: (failure: StreamFailure | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

class MessageStream {
  readonly #query: Uint8Array;
  readonly #options: StreamOptions;
  readonly #settle: Settle;
  readonly #onAbort = () => this.#end(({ reject }) => reject(this.#options.signal.reason));
  readonly #socket: Socket;
  readonly #total: NodeJS.Timeout;
  /** Limits the time until the connection is established and verified, then until the next message is complete. */
  #silence: NodeJS.Timeout;
  readonly #reader = new MessageReader();
  #count = 0;
  #isInHandshake = false;
  #isOver = false;

  constructor({ target, localAddress }: Route, query: Uint8Array, options: StreamOptions, settle: Settle) {
    const { totalMs, signal, tls } = options;
    this.#query = query;
    this.#options = options;
    this.#settle = settle;
    watchAbort(signal, this.#onAbort);
    this.#total = setTimeout(() => this.#fail(`did not complete the answer in ${totalMs / 1000} s`), totalMs);
    const connectMs = tls === undefined || tls.isStrict ? CONNECT_MS : OPPORTUNISTIC_CONNECT_MS;
    this.#silence = setTimeout(() => this.#failToConnect(connectMs / 1000), connectMs);
    const { address: host, port, family } = target;
    const where = { host, port, family, ...(localAddress === undefined ? {} : { localAddress }) };
    if (tls === undefined) {
      this.#socket = connect(where);
      this.#socket.on('connect', () => this.#send());
    } else {
      const socket = connectTls(where, tls);
      socket.on('connect', () => {
        this.#isInHandshake = true;
      });
      socket.on('secureConnect', () => {
        const fault = pinFault(socket, tls);
        if (fault !== undefined) return this.#fail(fault);
        this.#isInHandshake = false;
        this.#send();
      });
      this.#socket = socket;
    }
    this.#socket.on('data', (octets) => this.#reader.read(octets, (message) => this.#complete(message)));
    this.#socket.on('error', (error) => this.#fail(this.#describe(error)));
    this.#socket.on('close', () => this.#fail(`closed the connection after ${this.#count} messages`));
  }

  /** Nothing is sent before the server is verified. */
  #send(): void {
    if (this.#isOver) return;
    const { silenceMs } = this.#options;
    clearTimeout(this.#silence);
    const error = `sent no complete message for ${silenceMs / 1000} s`;
    this.#silence = setTimeout(() => this.#fail(error), silenceMs);
    this.#socket.write(framed(this.#query));
  }

  #failToConnect(seconds: number): void {
    const what = this.#isInHandshake ? 'completed no TLS handshake' : 'accepted no connection';
    this.#fail(`${what} in ${seconds} s`);
  }

  #describe(error: Error): string {
    const text = tlsErrorText(error) ?? socketErrorText(error);
    return this.#isInHandshake ? `failed the TLS handshake: ${text}` : `did not keep the connection: ${text}`;
  }

  /** Returns true if no further message is needed. */
  #complete(message: Uint8Array): boolean {
    if (this.#isOver) return true;
    this.#count++;
    this.#silence.refresh();
    if (this.#options.accept(message)) this.#end(({ resolve }) => resolve(undefined));
    return this.#isOver;
  }

  #fail(error: string): void {
    const code = this.#isInHandshake ? 'PRIMARY_TLS' : 'PRIMARY_SILENT';
    this.#end(({ resolve }) => resolve({ code, error }));
  }

  #end(settle: (how: Settle) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#total);
    clearTimeout(this.#silence);
    unwatchAbort(this.#options.signal, this.#onAbort);
    this.#socket.destroy();
    settle(this.#settle);
  }
}
