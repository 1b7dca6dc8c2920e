// One question over UDP, from the queue for a socket to its end: a reply, a timeout, a fault of the socket, or an
// abort.

import { unwatchAbort, watchAbort } from './abort-watch.ts';
import { acceptReply } from './accept-reply.ts';
import type { Tried, TryOptions } from './tried.ts';

export class UdpTry {
  readonly query: Uint8Array;
  /** The port that sends the try sets this: called once, at the end, to forget the try. */
  onEnd: (() => void) | undefined;
  ended = false;
  readonly #options: TryOptions;
  readonly #settle: { resolve: (tried: Tried) => void; reject: (reason: unknown) => void };
  readonly #abort = () => {
    if (this.#end()) this.#settle.reject(this.#options.signal.reason);
  };
  #timer: NodeJS.Timeout | undefined;
  #sentAt = 0;
  #error: string | undefined;

  constructor(
    query: Uint8Array,
    options: TryOptions,
    settle: { resolve: (tried: Tried) => void; reject: (reason: unknown) => void },
  ) {
    this.query = query;
    this.#options = options;
    this.#settle = settle;
    watchAbort(options.signal, this.#abort);
  }

  /** Starts the time limit: the packet is sent now. */
  begin(timeoutMs: number): void {
    this.#sentAt = performance.now();
    this.#timer = setTimeout(endInSilence, timeoutMs, this);
    this.#options.onPacket();
  }

  receive(octets: Uint8Array): void {
    const accepted = acceptReply(this.query, octets, 'udp');
    if (accepted.kind === 'unrelated') return;
    if (accepted.kind === 'unreadable') this.#error = accepted.error;
    else if (accepted.kind === 'reply') this.finish({ ...accepted, rttMs: performance.now() - this.#sentAt });
    else this.finish(accepted);
  }

  finish(tried: Tried): void {
    if (this.#end()) this.#settle.resolve(tried);
  }

  giveUp(): void {
    this.finish({ kind: 'silence', error: this.#error });
  }

  /** False when the try was over already. */
  #end(): boolean {
    if (this.ended) return false;
    this.ended = true;
    clearTimeout(this.#timer);
    unwatchAbort(this.#options.signal, this.#abort);
    this.onEnd?.();
    return true;
  }
}

function endInSilence(attempt: UdpTry): void {
  attempt.giveUp();
}
