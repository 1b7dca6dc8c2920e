// The work of one check: its use of the limits, and the signal that ends it. If several checks wait for one piece of work,
// it counts for the check that started it.

import { SLOW_AFTER_MS } from '../../checks/shares/slots.ts';
import { type Name, ROOT } from '../../dns/name.ts';
import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';
import type { Limits } from './limits.ts';

/**
 * Thrown through the whole check when it must end. `later`: it waited long and may not continue. `aborted`: the caller no
 * longer needs the result.
 */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly by: 'packets' | 'referrals' | 'time' | 'later' | 'aborted';

  constructor(by: Stopped['by'], message: string) {
    super(message);
    this.by = by;
  }
}

export class Work {
  readonly limits: Limits;
  /** The zone that the check's own walk has reached. */
  reached: Name = ROOT;
  /** Number of consecutive queries without a reply, including those to other zones. */
  unanswered = 0;
  stopped: Stopped | undefined;
  /** Number of queries and other checks' results that it currently waits for. */
  waits = 0;
  /** True if remembered timeouts are ignored, because a user waits for the result. */
  readonly fresh: boolean;
  /** For a fresh check: earlier failures are ignored. */
  failuresSince: number | undefined;
  /** Called once if the check has waited long. If it returns false, the check ends. */
  readonly #onSlow: (() => boolean) | undefined;
  #waitedMs = 0;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  #packets = 0;
  #referrals = 0;
  #cnames = 0;
  #lookups = 0;

  constructor(
    limits: Limits,
    outer: AbortSignal | undefined,
    { onSlow, fresh = false }: { onSlow?: (() => boolean) | undefined; fresh?: boolean | undefined } = {},
  ) {
    this.limits = limits;
    this.fresh = fresh;
    this.#onSlow = onSlow;
    this.#timer = setTimeout(this.#endTime, limits.milliseconds);
    if (outer?.aborted) this.abort();
    else if (outer !== undefined) watchAbort(outer, this.abort);
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get packets(): number {
    return this.#packets;
  }

  /** Throws Stopped if the work must end. */
  check(): void {
    if (this.stopped !== undefined) throw this.stopped;
  }

  /** Called before a query. Throws Stopped if no packet is left. */
  checkPackets(): void {
    this.check();
    if (this.#packets >= this.limits.packets) this.#stopForPackets();
    this.check();
  }

  /** Called for each packet. A packet that would exceed the limit ends the work before it is sent. */
  readonly countPacket = (): boolean => {
    if (this.#packets >= this.limits.packets) {
      this.#stopForPackets();
      return false;
    }
    this.#packets++;
    return true;
  };

  /** Reserves the packets of a part with its own limits. A negative number returns unused packets. */
  countPackets(packets: number): void {
    this.#packets += packets;
  }

  /** Throws Stopped if no referral is left. */
  countReferral(): void {
    this.#referrals++;
    if (this.#referrals <= this.limits.referrals) return;
    this.#stop(
      new Stopped('referrals', `more than ${this.limits.referrals} delegations would have to be queried`),
    );
    this.check();
  }

  /** Returns false if the limit is exceeded. Only the name with the CNAME is given up then. */
  countCname(): boolean {
    this.#cnames++;
    return this.#cnames <= this.limits.cnames;
  }

  /** Returns false if the limit is exceeded. Only that nameserver is given up then. */
  countLookup(): boolean {
    this.#lookups++;
    return this.#lookups <= this.limits.lookups;
  }

  /** Settles like the promise, or rejects with Stopped if that happens first. */
  race<T>(promise: Promise<T>): Promise<T> {
    if (this.stopped !== undefined) return Promise.reject(this.stopped);
    this.waits++;
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(this.stopped);
      watchAbort(this.signal, giveUp);
      promise.then(resolve, reject).finally(() => {
        this.waits--;
        unwatchAbort(this.signal, giveUp);
      });
    });
  }

  /** Called periodically. Counts only time that the check waited, not time that this process was busy. */
  tick(passedMs: number): void {
    if (this.waits === 0 || this.#onSlow === undefined || this.#waitedMs >= SLOW_AFTER_MS) return;
    this.#waitedMs += passedMs;
    if (this.#waitedMs < SLOW_AFTER_MS || this.#onSlow()) return;
    this.#stop(new Stopped('later', 'it was slow while many other checks were slow too'));
  }

  end(): void {
    clearTimeout(this.#timer);
    if (this.#outer !== undefined) unwatchAbort(this.#outer, this.abort);
  }

  readonly #endTime = () => {
    this.#stop(new Stopped('time', `not done within ${this.limits.milliseconds / 1000} s`));
  };

  readonly abort = () => {
    this.#stop(new Stopped('aborted', 'the check was cancelled'));
  };

  #stopForPackets(): void {
    this.#stop(new Stopped('packets', `more than ${this.limits.packets} packets would be needed`));
  }

  #stop(stopped: Stopped): void {
    if (this.stopped !== undefined) return;
    this.stopped = stopped;
    this.#controller.abort(stopped);
  }
}
