// One query over UDP, from waiting for a socket to its end: a reply, a timeout, a socket error, or an abort.

import { unwatchAbort, watchAbort } from './abort-watch.ts';
import type { AttemptOptions, AttemptResult } from './attempt-result.ts';
import { matchReply } from './match-reply.ts';

export class UdpAttempt {
  readonly query: Uint8Array;
  /** Set by the port that sends the attempt. Called once at the end, so that the port forgets it. */
  onEnd: (() => void) | undefined;
  ended = false;
  readonly #options: AttemptOptions;
  readonly #settle: { resolve: (result: AttemptResult) => void; reject: (reason: unknown) => void };
  readonly #abort = () => {
    if (this.#end()) this.#settle.reject(this.#options.signal.reason);
  };
  #timer: NodeJS.Timeout | undefined;
  #sentAt = 0;
  #error: string | undefined;

  constructor(
    query: Uint8Array,
    options: AttemptOptions,
    settle: { resolve: (result: AttemptResult) => void; reject: (reason: unknown) => void },
  ) {
    this.query = query;
    this.#options = options;
    this.#settle = settle;
    watchAbort(options.signal, this.#abort);
  }

  /** Starts the time limit when the packet is sent. */
  begin(): void {
    this.#sentAt = performance.now();
    this.#timer = setTimeout(endInSilence, this.#options.timeoutMs, this);
    this.#options.onPacket();
  }

  receive(octets: Uint8Array): void {
    const match = matchReply(this.query, octets, 'udp');
    if (match.kind === 'unrelated') return;
    if (match.kind === 'unreadable') this.#error = match.error;
    else if (match.kind === 'reply') this.finish({ ...match, rttMs: performance.now() - this.#sentAt });
    else this.finish(match);
  }

  finish(result: AttemptResult): void {
    if (this.#end()) this.#settle.resolve(result);
  }

  giveUp(): void {
    this.finish({ kind: 'silence', error: this.#error });
  }

  /** Returns false if it had already ended. */
  #end(): boolean {
    if (this.ended) return false;
    this.ended = true;
    clearTimeout(this.#timer);
    unwatchAbort(this.#options.signal, this.#abort);
    this.onEnd?.();
    return true;
  }
}

function endInSilence(attempt: UdpAttempt): void {
  attempt.giveUp();
}
