// Sends one query over TCP and reads the messages of its answer one by one, until the caller has all of them. At most one
// message is in memory.

import { connect, type Socket } from 'node:net';
import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';
import { framed, MessageReader } from '../exchange/message-reader.ts';
import { socketErrorText } from '../exchange/socket-error.ts';
import type { Route } from './primary.ts';

interface StreamOptions {
  readonly signal: AbortSignal;
  /** Reads the next message. Returns true if it was the last one. */
  readonly accept: (message: Uint8Array) => boolean;
  /** Longest time until a message is complete. */
  readonly silenceMs: number;
  /** Longest time of the whole answer. */
  readonly totalMs: number;
}

/** `error` is a predicate whose subject is the server. Undefined if the caller has all messages. */
type StreamEnd = { readonly error: string | undefined };

const CONNECT_MS = 10_000;

/** Rejects only with the signal's reason when that aborts. */
export function readStream(route: Route, query: Uint8Array, options: StreamOptions): Promise<StreamEnd> {
  options.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    new MessageStream(route, query, options, (end) => {
      if (end === undefined) reject(options.signal.reason);
      else resolve(end);
    });
  });
}

class MessageStream {
  readonly #options: StreamOptions;
  readonly #onEnd: (end: StreamEnd | undefined) => void;
  readonly #onAbort = () => this.#end(undefined);
  readonly #socket: Socket;
  readonly #total: NodeJS.Timeout;
  /** Limits the time until the connection is established, then until the next message is complete. */
  #silence: NodeJS.Timeout;
  readonly #reader = new MessageReader();
  #count = 0;
  #isOver = false;

  constructor(
    { target, localAddress }: Route,
    query: Uint8Array,
    options: StreamOptions,
    onEnd: (end: StreamEnd | undefined) => void,
  ) {
    const { silenceMs, totalMs, signal } = options;
    this.#options = options;
    this.#onEnd = onEnd;
    watchAbort(signal, this.#onAbort);
    this.#total = setTimeout(
      () => this.#end({ error: `did not complete the answer in ${totalMs / 1000} s` }),
      totalMs,
    );
    this.#silence = setTimeout(
      () => this.#end({ error: `accepted no connection in ${CONNECT_MS / 1000} s` }),
      CONNECT_MS,
    );
    const { address: host, port, family } = target;
    const socket = connect({ host, port, family, ...(localAddress === undefined ? {} : { localAddress }) });
    this.#socket = socket;
    socket.on('connect', () => {
      clearTimeout(this.#silence);
      const error = `sent no complete message for ${silenceMs / 1000} s`;
      this.#silence = setTimeout(() => this.#end({ error }), silenceMs);
    });
    socket.on('data', (octets) => this.#reader.read(octets, (message) => this.#complete(message)));
    socket.on('error', (error) =>
      this.#end({ error: `did not keep the connection: ${socketErrorText(error)}` }),
    );
    socket.on('close', () => this.#end({ error: `closed the connection after ${this.#count} messages` }));
    socket.write(framed(query));
  }

  /** Returns true if no further message is needed. */
  #complete(message: Uint8Array): boolean {
    if (this.#isOver) return true;
    this.#count++;
    this.#silence.refresh();
    if (this.#options.accept(message)) this.#end({ error: undefined });
    return this.#isOver;
  }

  #end(end: StreamEnd | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#total);
    clearTimeout(this.#silence);
    unwatchAbort(this.#options.signal, this.#onAbort);
    this.#socket.destroy();
    this.#onEnd(end);
  }
}
