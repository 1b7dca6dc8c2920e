// Sends queries over TCP, each on its own connection. They are rare, so no connection is kept open. The time limit runs from
// the first packet to the last octet.

import { connect, type Socket } from 'node:net';
import { unwatchAbort, watchAbort } from './abort-watch.ts';
import type { AttemptOptions, AttemptResult, Transport } from './attempt-result.ts';
import { setId } from './encode-query.ts';
import { matchReply } from './match-reply.ts';
import { framed, MessageReader } from './message-reader.ts';
import type { OpenSockets } from './open-sockets.ts';
import type { RandomBytes } from './random-bytes.ts';
import { socketErrorText } from './socket-error.ts';
import type { Target } from './target.ts';

export class TcpExchange implements Transport {
  readonly #sockets: OpenSockets;
  readonly #random: RandomBytes;
  readonly #attempts = new Set<TcpAttempt>();

  constructor(sockets: OpenSockets, random: RandomBytes) {
    this.#sockets = sockets;
    this.#random = random;
  }

  ask(target: Target, query: Uint8Array, options: AttemptOptions): Promise<AttemptResult> {
    setId(query, this.#random.uint16());
    return new Promise((resolve, reject) => {
      const start = () => attempt.begin();
      const attempt = new TcpAttempt(target, query, options, (wasBegun, result) => {
        this.#attempts.delete(attempt);
        if (wasBegun) this.#sockets.release();
        else this.#sockets.cancel(start);
        if (result === undefined) reject(options.signal.reason);
        else resolve(result);
      });
      this.#attempts.add(attempt);
      this.#sockets.take(start);
    });
  }

  close(error: string): void {
    for (const attempt of [...this.#attempts]) attempt.finish({ kind: 'failed', error });
  }
}

class TcpAttempt {
  readonly #target: Target;
  readonly #query: Uint8Array;
  readonly #options: AttemptOptions;
  readonly #onEnd: (wasBegun: boolean, result: AttemptResult | undefined) => void;
  readonly #onAbort = () => this.finish(undefined);
  readonly #reader = new MessageReader();
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begunAt: number | undefined;
  #isConnected = false;
  #isOver = false;

  /** `onEnd` is called once, without a result if the signal aborts. */
  constructor(
    target: Target,
    query: Uint8Array,
    options: AttemptOptions,
    onEnd: (wasBegun: boolean, result: AttemptResult | undefined) => void,
  ) {
    this.#target = target;
    this.#query = query;
    this.#options = options;
    this.#onEnd = onEnd;
    watchAbort(options.signal, this.#onAbort);
  }

  begin(): void {
    this.#begunAt = performance.now();
    this.#timer = setTimeout(() => this.#endTime(), this.#options.timeoutMs);
    this.#options.onPacket();
    if (this.#isOver) return; // onPacket may abort
    const { address: host, port, family } = this.#target;
    const socket = connect({ host, port, family });
    this.#socket = socket;
    socket.on('connect', () => {
      this.#isConnected = true;
    });
    socket.on('data', (octets) =>
      this.#reader.read(octets, (message) => {
        this.#read(message);
        return true; // ignores data after the message: only one query was sent
      }),
    );
    socket.on('error', (error) => this.finish({ kind: 'closed', error: socketErrorText(error) }));
    socket.on('close', () => this.finish({ kind: 'closed', error: this.#describeCut() }));
    socket.write(framed(this.#query));
  }

  #endTime(): void {
    this.finish(
      this.#isConnected
        ? { kind: 'silence', error: undefined }
        : { kind: 'closed', error: `no connection within ${this.#options.timeoutMs} ms` },
    );
  }

  #read(message: Uint8Array): void {
    const match = matchReply(this.#query, message, 'tcp');
    const rttMs = performance.now() - (this.#begunAt as number);
    if (match.kind === 'reply') this.finish({ ...match, rttMs });
    else if (match.kind === 'unreadable') this.finish({ kind: 'silence', error: match.error });
    else if (match.kind === 'unrelated')
      this.finish({ kind: 'silence', error: 'the reply is to another query' });
    else this.finish(match);
  }

  #describeCut(): string {
    const { message, received } = this.#reader;
    if (message === undefined) return 'the connection was closed without a reply';
    return `the connection was closed after ${received} of ${message.length} octets`;
  }

  finish(result: AttemptResult | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    unwatchAbort(this.#options.signal, this.#onAbort);
    this.#socket?.destroy();
    this.#onEnd(this.#begunAt !== undefined, result);
  }
}
