// The work of one check: what it has used of its limits, and the signal that ends it. When several checks wait for one
// piece of work, the check that started it pays for it.

import { SLOW_AFTER_MS } from '../../checks/shares/slots.ts';
import { type Name, ROOT } from '../../dns/name.ts';
import { unwatchAbort, watchAbort } from '../exchange/abort-watch.ts';
import type { Limits } from './limits.ts';

/**
 * Thrown through the whole check when it must end. `later`: it waited long, and may not go on. `aborted`: the caller no
 * longer wants the result.
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
  /** How many questions in a row, also to other zones, brought no reply. */
  unanswered = 0;
  stopped: Stopped | undefined;
  /** How many questions, and results of other checks, are waited for now. */
  waits = 0;
  /** Remembered silence does not count: somebody waits for the result. */
  readonly fresh: boolean;
  /** When it is fresh: failures of before do not count. */
  failuresSince: number | undefined;
  /** Called once when the check has waited long; false ends it. */
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

  /** Throws Stopped when the work must end. */
  check(): void {
    if (this.stopped !== undefined) throw this.stopped;
  }

  /** Called before a question. Throws Stopped when no packet is left. */
  checkPackets(): void {
    this.check();
    if (this.#packets >= this.limits.packets) this.#stopForPackets();
    this.check();
  }

  /** Called for each packet. The packet that exceeds the limit ends the work before it is sent. */
  readonly countPacket = (): boolean => {
    if (this.#packets >= this.limits.packets) {
      this.#stopForPackets();
      return false;
    }
    this.#packets++;
    return true;
  };

  /**
   * Counts the packets that a part with limits of its own may send; a negative number gives back what it did not use.
   */
  countPackets(packets: number): void {
    this.#packets += packets;
  }

  /** Throws Stopped when no referral is left. */
  countReferral(): void {
    this.#referrals++;
    if (this.#referrals <= this.limits.referrals) return;
    this.#stop(
      new Stopped('referrals', `more than ${this.limits.referrals} delegations had to be asked for`),
    );
    this.check();
  }

  /** False when the limit is exceeded: only the name that the CNAME stands for is given up. */
  countCname(): boolean {
    this.#cnames++;
    return this.#cnames <= this.limits.cnames;
  }

  /** False when the limit is exceeded: only that nameserver is given up. */
  countLookup(): boolean {
    this.#lookups++;
    return this.#lookups <= this.limits.lookups;
  }

  /** Settles as the promise does, or rejects with Stopped when that comes first. */
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

  /** Time has passed. Only what the check waited counts, not what this process was busy with. */
  tick(passedMs: number): void {
    if (this.waits === 0 || this.#onSlow === undefined || this.#waitedMs >= SLOW_AFTER_MS) return;
    this.#waitedMs += passedMs;
    if (this.#waitedMs < SLOW_AFTER_MS || this.#onSlow()) return;
    this.#stop(new Stopped('later', 'it took long while many other checks did'));
  }

  end(): void {
    clearTimeout(this.#timer);
    if (this.#outer !== undefined) unwatchAbort(this.#outer, this.abort);
  }

  readonly #endTime = () => {
    this.#stop(new Stopped('time', `not done within ${this.limits.milliseconds / 1000} s`));
  };

  readonly abort = () => {
    this.#stop(new Stopped('aborted', 'the check was given up'));
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
