// Schedules the NOTIFY messages to one peer (RFC 1996). Each peer has a queue of its own, so that a slow or silent peer
// never delays another one. Time is an argument: there are no timers and no sockets here.

import type { Name } from '../../dns/name.ts';

/** Time to wait for an answer after each attempt. After the last one, the zone is given up. */
const ANSWER_TIMEOUTS_MS = [2000, 4000, 8000, 16_000, 32_000, 2000] as const;
/** Minimum time between two messages about one zone. */
const ZONE_INTERVAL_MS = 1000;
const MOST_UNANSWERED = 500;
/** A peer that ignored this many messages in a row is silent: it gets one message per interval until it answers. */
const IGNORED_UNTIL_SILENT = 20;
const SILENT_INTERVAL_MS = 30_000;
/** An address that ignored this many messages in a row is replaced by the peer's next one. */
const IGNORED_UNTIL_NEXT_ADDRESS = 3;
/** If a timer is late by less, the messages that it delayed are sent together. */
const CATCH_UP_MS = 100;

/** A message about a zone that the peer has not answered yet. Later attempts, and later changes, use the same object. */
export interface Unanswered {
  readonly apex: Name;
  attempts: number;
  sentAt: number;
  /** Counts the peer's changes of address. */
  address: number;
}

/** `send`: send the SOA of the zone now. `given-up`: the peer ignored all attempts. */
interface QueueStep {
  readonly kind: 'send' | 'given-up';
  readonly message: Unanswered;
}

interface Recent {
  readonly sentAt: number;
  /** True if the zone has changed since. */
  hasChanged: boolean;
}

export class NotifyQueue {
  readonly #intervalMs: number;
  /** Zones to send, oldest first. None of them is in `#recent`. */
  readonly #changed = new Set<Name>();
  /** Zones sent within ZONE_INTERVAL_MS, oldest first. */
  readonly #recent = new Map<Name, Recent>();
  readonly #unanswered = new Map<Name, Unanswered>();
  /** Messages waiting for an answer by number of attempts, each sorted by time. */
  readonly #waiting = ANSWER_TIMEOUTS_MS.map(() => new Set<Unanswered>());
  /** Ignored messages to send again. */
  readonly #ignored = new Set<Unanswered>();
  #ignoredInRow = 0;
  #ignoredByAddress = 0;
  #address = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(rate: number) {
    this.#intervalMs = 1000 / rate;
  }

  /** Number of zones that the peer has not acknowledged. */
  get size(): number {
    return this.#unanswered.size + this.#changed.size;
  }

  get isSilent(): boolean {
    return this.#ignoredInRow >= IGNORED_UNTIL_SILENT;
  }

  /** True if nothing would be lost with the queue. */
  get isIdle(): boolean {
    return this.size === 0 && this.#recent.size === 0 && this.#ignoredInRow === 0 && this.#address === 0;
  }

  add(apex: Name): void {
    const recent = this.#recent.get(apex);
    if (recent === undefined) this.#changed.add(apex);
    else recent.hasChanged = true;
  }

  /** Returns the next thing to do now. Call it until it returns undefined, and again at `nextAt`. */
  take(now: number): QueueStep | undefined {
    this.#endRecent(now);
    const givenUp = this.#endWaiting(now);
    if (givenUp !== undefined) return { kind: 'given-up', message: givenUp };
    const message = now < this.#nextAt ? undefined : this.#next();
    if (message === undefined) return undefined;
    // A retry sends the newest SOA too.
    message.attempts = this.#changed.delete(message.apex) ? 1 : message.attempts + 1;
    message.sentAt = now;
    message.address = this.#address;
    this.#waiting[message.attempts - 1]?.add(message);
    this.#recent.set(message.apex, { sentAt: now, hasChanged: false });
    const isLate = now - this.#nextAt < CATCH_UP_MS;
    this.#nextAt = this.isSilent
      ? now + SILENT_INTERVAL_MS
      : (isLate ? this.#nextAt : now) + this.#intervalMs;
    return { kind: 'send', message };
  }

  /** Returns when `take` must be called next. Undefined if there is nothing to do. */
  nextAt(): number | undefined {
    const times: number[] = [];
    for (const { sentAt } of first(this.#recent.values())) times.push(sentAt + ZONE_INTERVAL_MS);
    for (const waiting of this.#waiting) for (const message of first(waiting)) times.push(dueAt(message));
    if (this.#canSend()) times.push(this.#nextAt);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Call it when the peer has answered the message. */
  answered(message: Unanswered, now: number): void {
    if (this.isSilent) this.#nextAt = now;
    this.#answeredAt = now;
    this.#ignoredInRow = 0;
    this.#ignoredByAddress = 0;
    this.#forget(message);
  }

  /** Call it if a message was not sent because the peer no longer gets this zone. */
  drop(message: Unanswered, now: number): void {
    this.#nextAt = now;
    this.#recent.delete(message.apex);
    this.#forget(message);
  }

  #next(): Unanswered | undefined {
    if (!this.#canSend()) return undefined;
    for (const message of first(this.#ignored)) {
      this.#ignored.delete(message);
      return message;
    }
    for (const apex of first(this.#changed)) {
      const message = this.#unanswered.get(apex) ?? { apex, attempts: 0, sentAt: 0, address: 0 };
      this.#stopWaiting(message);
      this.#unanswered.set(apex, message);
      return message;
    }
    return undefined;
  }

  #canSend(): boolean {
    return this.#ignored.size > 0 || (this.#changed.size > 0 && this.#unanswered.size < MOST_UNANSWERED);
  }

  #endRecent(now: number): void {
    for (const [apex, { sentAt, hasChanged }] of this.#recent) {
      if (sentAt + ZONE_INTERVAL_MS > now) break;
      this.#recent.delete(apex);
      if (hasChanged) this.#changed.add(apex);
    }
  }

  /** Returns a message whose last attempt was ignored. */
  #endWaiting(now: number): Unanswered | undefined {
    for (const waiting of this.#waiting) {
      for (const message of waiting) {
        if (dueAt(message) > now) break;
        waiting.delete(message);
        this.#countIgnored(message, now);
        if (message.attempts === ANSWER_TIMEOUTS_MS.length) {
          this.#forget(message);
          return message;
        }
        this.#ignored.add(message);
      }
    }
    return undefined;
  }

  #countIgnored({ sentAt, address }: Unanswered, now: number): void {
    // Packets may be lost in bursts. A peer that has answered since is not silent.
    if (sentAt < this.#answeredAt) return;
    this.#ignoredInRow++;
    if (this.#ignoredInRow === IGNORED_UNTIL_SILENT) this.#nextAt = now + SILENT_INTERVAL_MS;
    // Hundreds may have been sent to an address before the next one is used.
    if (address !== this.#address || ++this.#ignoredByAddress < IGNORED_UNTIL_NEXT_ADDRESS) return;
    this.#address++;
    this.#ignoredByAddress = 0;
  }

  #forget(message: Unanswered): void {
    this.#stopWaiting(message);
    this.#unanswered.delete(message.apex);
  }

  #stopWaiting(message: Unanswered): void {
    this.#waiting[message.attempts - 1]?.delete(message);
    this.#ignored.delete(message);
  }
}

/** Returns when the message counts as ignored. */
function dueAt({ sentAt, attempts }: Unanswered): number {
  return sentAt + (ANSWER_TIMEOUTS_MS[attempts - 1] as number);
}

/** Yields the first value, if there is one. */
function* first<T>(values: Iterable<T>): Generator<T> {
  for (const value of values) {
    yield value;
    return;
  }
}
