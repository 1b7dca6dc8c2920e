// The main thread's side of the messages that the transfer thread answers: numbers them, and passes each answer to the
// connection or socket that its message came from.

import { setTimeout as pause } from 'node:timers/promises';
import { TRANSPORT, type TransportIndex } from '../answer/transports.ts';
import type { FromTransferThread, SlowMessage, ToTransferThread } from '../transfer/messages.ts';
import { SlowPathLimit } from './slow-path-limit.ts';

/** The connection or socket that a message came from. */
export interface SlowReceiver {
  /** Called with a part of the answer. `octets` is undefined if the part is empty. */
  takeAnswer(id: number, octets: Uint8Array | undefined, isLast: boolean): void;
  /** Called if no further part of the answer will come. */
  loseAnswer(id: number): void;
}

/** Passes messages to the transfer thread. Implemented by SlowPath, and for other threads by RelayedSlowPath. */
export interface SlowMessages {
  readonly limit: Pick<SlowPathLimit, 'enter' | 'drop'>;
  /** Sends a message, which `limit` has admitted. Returns its id, or undefined if it cannot be sent. */
  ask(message: Omit<SlowMessage, 'id'>, receiver: SlowReceiver): number | undefined;
  /** Requests the next part of an answer. */
  more(id: number): void;
  /** Makes the transfer thread forget the answer. */
  close(id: number): void;
}

interface Waiting {
  readonly receiver: SlowReceiver;
  readonly transport: TransportIndex;
  /** Time by which the thread must send the next part. */
  deadlineMs: number;
}

const UDP_TIMEOUT_MS = 60_000;
/** Longer than the time that a transfer may wait for another one to end. */
const TCP_TIMEOUT_MS = 120_000;
const SWEEP_MS = 1000;
const SETTLE_TIMEOUT_MS = 200;
const SETTLE_POLL_MS = 5;

export class SlowPath implements SlowMessages {
  readonly limit = new SlowPathLimit();
  readonly #now: () => number;
  readonly #waiting = new Map<number, Waiting>();
  #post: ((message: ToTransferThread) => void) | undefined;
  #lastId = 0;
  #sweep: NodeJS.Timeout | undefined;

  /** @param now in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Sends a message, which `limit` has admitted, to the thread. Returns the message's id, or undefined if no thread is
   * running.
   */
  ask(message: Omit<SlowMessage, 'id'>, receiver: SlowReceiver): number | undefined {
    const { transport } = message;
    if (this.#post === undefined) {
      this.limit.leave();
      this.limit.drop('unanswered');
      return undefined;
    }
    const id = ++this.#lastId;
    this.#waiting.set(id, { receiver, transport, deadlineMs: this.#deadline(transport) });
    this.#sweepSoon();
    this.#post({ kind: 'message', message: { ...message, id } });
    return id;
  }

  /** Requests the next part of an answer. */
  more(id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.deadlineMs = this.#deadline(waiting.transport);
    this.#post?.({ kind: 'more', id });
  }

  /** Makes the thread forget the answer. Call it when the connection has ended. */
  close(id: number): void {
    if (this.#forget(id)) this.#post?.({ kind: 'closed', id });
  }

  receive(message: Extract<FromTransferThread, { kind: 'answer' | 'abort' }>): void {
    const { id } = message;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const isLast = message.kind === 'abort' || message.isLast || waiting.transport === TRANSPORT.UDP;
    if (isLast) this.#forget(id);
    // Until the peer has taken this part, the thread owes none.
    waiting.deadlineMs = Number.POSITIVE_INFINITY;
    if (message.kind === 'abort') waiting.receiver.loseAnswer(id);
    else waiting.receiver.takeAnswer(id, message.octets, isLast);
  }

  /** @param post sends a message to a thread that has been started */
  attach(post: (message: ToTransferThread) => void): void {
    this.#post = post;
  }

  /** Call it when the thread has ended. */
  detach(): void {
    this.#post = undefined;
    for (const [id, { receiver }] of this.#waiting) {
      this.#forget(id);
      receiver.loseAnswer(id);
    }
  }

  /** Resolves when all messages over UDP are answered, or after 200 ms. */
  async settled(): Promise<void> {
    const deadlineMs = performance.now() + SETTLE_TIMEOUT_MS;
    const isWaiting = () => [...this.#waiting.values()].some(({ transport }) => transport === TRANSPORT.UDP);
    while (isWaiting() && performance.now() < deadlineMs) await pause(SETTLE_POLL_MS);
  }

  #sweepSoon(): void {
    this.#sweep ??= setTimeout(() => this.forgetOverdue(), SWEEP_MS).unref();
  }

  #deadline(transport: TransportIndex): number {
    return this.#now() + (transport === TRANSPORT.UDP ? UDP_TIMEOUT_MS : TCP_TIMEOUT_MS);
  }

  /** Returns false if the message is not known. */
  #forget(id: number): boolean {
    const isKnown = this.#waiting.delete(id);
    if (isKnown) this.limit.leave();
    return isKnown;
  }

  /** Forgets the messages that the thread has not answered in time. Runs every second while messages wait. */
  forgetOverdue(): void {
    const nowMs = this.#now();
    for (const [id, { receiver, deadlineMs }] of this.#waiting) {
      if (deadlineMs > nowMs) continue;
      this.limit.drop('unanswered');
      this.close(id);
      receiver.loseAnswer(id);
    }
    clearTimeout(this.#sweep);
    this.#sweep = undefined;
    if (this.#waiting.size > 0) this.#sweepSoon();
  }
}
