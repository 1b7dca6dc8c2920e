// Sends one query over TCP and reads the messages of its answer one by one, until the caller has all of them. At most one
// message is in memory.

import { connect, type Socket } from 'node:net';
import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';
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
const LENGTH_OCTETS = 2;

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
  readonly #length = new Uint8Array(LENGTH_OCTETS);
  /** The message that is being received. Undefined while its length is. */
  #message: Uint8Array | undefined;
  /** Number of received octets of the length and the message. */
  #received = 0;
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
    socket.on('data', (octets) => this.#receive(octets));
    socket.on('error', (error) =>
      this.#end({ error: `did not keep the connection: ${socketErrorText(error)}` }),
    );
    socket.on('close', () => this.#end({ error: `closed the connection after ${this.#count} messages` }));
    // one write: some servers treat the length in its own packet as the whole message
    socket.write(Buffer.concat([Uint8Array.of(query.length >> 8, query.length), query]));
  }

  #receive(octets: Uint8Array): void {
    for (let at = 0; at < octets.length && !this.#isOver; ) {
      if (this.#message === undefined) {
        this.#length[this.#received++] = octets[at++] as number;
        if (this.#received < LENGTH_OCTETS) continue;
        this.#message = new Uint8Array(((this.#length[0] as number) << 8) | (this.#length[1] as number));
        this.#received = 0;
      }
      const part = octets.subarray(at, at + this.#message.length - this.#received);
      this.#message.set(part, this.#received);
      this.#received += part.length;
      at += part.length;
      if (this.#received === this.#message.length) this.#complete(this.#message);
    }
  }

  #complete(message: Uint8Array): void {
    this.#message = undefined;
    this.#received = 0;
    this.#count++;
    this.#silence.refresh();
    if (this.#options.accept(message)) this.#end({ error: undefined });
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
