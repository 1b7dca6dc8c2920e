// Limits the requests of a caller in any 60 seconds. PostgreSQL counts for all API processes. While it is
// unavailable, each process counts on its own. A caller beyond the limit is refused from memory until its next
// request would be allowed.

import { CallWindows, type TakenCall, WINDOW_MS } from '../../store/accounts/rate-windows.ts';
import type { Database } from '../../store/postgres/database.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import { Problem } from '../answers/problem.ts';

const MAX_SUBJECTS = 10_000;

interface Window {
  /** The times of the calls, oldest first. */
  calls: number[];
  /** Requests are refused until then, according to the shared count. */
  blockedUntilMs: number;
}

/** Requests of the last 60 seconds that this process admitted, and subjects that are known to be beyond the limit. */
export class MemoryWindows {
  readonly #rate: number;
  readonly #nowMs: () => number;
  readonly #windows = new Map<string, Window>();

  constructor(rate: number, nowMs: () => number) {
    this.#rate = rate;
    this.#nowMs = nowMs;
  }

  /** Returns a refusal if the subject is certainly beyond its limit. */
  judge(subject: string): TakenCall | undefined {
    const waitMs = (this.#windows.get(subject)?.blockedUntilMs ?? 0) - this.#nowMs();
    return waitMs > 0 ? { admitted: false, used: this.#rate, waitMs } : undefined;
  }

  /** Records an admitted request. */
  note(subject: string, atMs: number): void {
    const { calls } = this.#of(subject);
    calls.push(atMs);
    if (calls.length > this.#rate) calls.shift();
  }

  block(subject: string, untilMs: number): void {
    this.#of(subject).blockedUntilMs = untilMs;
  }

  /** Counts a request among those of this process only. */
  take(subject: string): TakenCall {
    const nowMs = this.#nowMs();
    const window = this.#of(subject);
    window.calls = window.calls.filter((at) => at > nowMs - WINDOW_MS);
    const admitted = window.calls.length < this.#rate;
    if (admitted) window.calls.push(nowMs);
    const [oldest = nowMs] = window.calls;
    return { admitted, used: window.calls.length, waitMs: oldest + WINDOW_MS - nowMs };
  }

  /** Number of stored subjects, for tests. */
  get size(): number {
    return this.#windows.size;
  }

  #of(subject: string): Window {
    const window = this.#windows.get(subject) ?? { calls: [], blockedUntilMs: Number.NEGATIVE_INFINITY };
    this.#windows.delete(subject); // the map is in the order of use, so the oldest entry is removed first
    this.#windows.set(subject, window);
    if (this.#windows.size > MAX_SUBJECTS) {
      const [oldest = ''] = this.#windows.keys();
      this.#windows.delete(oldest);
    }
    return window;
  }
}

export interface RateLimit {
  /**
   * Counts one request, or `count` together: if one fits, all are admitted. `subject` is the holder of the limit:
   * `key:17`, or `session:3` for the sessions of account 3. `headers` belong on the response, whether or not the request
   * is admitted.
   */
  take(subject: string, count?: number): Promise<Counted>;
}

interface Counted {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until one more request is allowed. */
  readonly resetSeconds: number;
  readonly headers: Record<string, string>;
  readonly problem: Problem | undefined;
}

export function createRateLimit(
  db: Database,
  requestsPerMinute: number,
  nowMs: () => number = () => performance.now(),
): RateLimit {
  const shared = new CallWindows(db, requestsPerMinute);
  const own = new MemoryWindows(requestsPerMinute, nowMs);
  return {
    async take(subject, count = 1) {
      const known = own.judge(subject);
      if (known !== undefined) return describe(known);
      const askedMs = nowMs(); // before the query, so that no client waits longer than necessary
      try {
        const taken = await shared.take(subject, undefined, count);
        if (taken.admitted) own.note(subject, askedMs);
        else own.block(subject, askedMs + taken.waitMs);
        return describe(taken);
      } catch (error) {
        if (outageOf(error) === undefined) throw error;
        return describe(own.take(subject));
      }
    },
  };

  function describe({ admitted, used, waitMs }: TakenCall): Counted {
    const remaining = Math.max(0, requestsPerMinute - used);
    const resetSeconds = Math.ceil(waitMs / 1000);
    const headers = {
      'RateLimit-Limit': String(requestsPerMinute),
      'RateLimit-Remaining': String(remaining),
      'RateLimit-Reset': String(resetSeconds),
    };
    const retry = { 'Retry-After': headers['RateLimit-Reset'] };
    const problem = admitted ? undefined : new Problem(429, 'rate limit exceeded', { headers: retry });
    return { limit: requestsPerMinute, remaining, resetSeconds, headers, problem };
  }
}
