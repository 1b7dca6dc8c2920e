// Measures whether a body arrives fast enough. Only the time that this process spends waiting for the body counts.

export interface PaceBounds {
  /** Total wait that is allowed for every body. */
  readonly graceMs: number;
  /** Minimum average rate after the grace time. */
  readonly bytesASecond: number;
  /** Maximum total wait, for any size. */
  readonly mostMs: number;
}

const SLOW_MS = 1000;
const SLOW_RATES = 4;

export class BodyPace {
  readonly #bounds: PaceBounds;
  #octets = 0;
  #waitedMs = 0;
  #sinceMs = 0;

  constructor(bounds: PaceBounds) {
    this.#bounds = bounds;
  }

  /** Starts a wait, and returns the maximum milliseconds for it. Returns 0 if the body is too slow. */
  wait(nowMs: number): number {
    const { graceMs, mostMs } = this.#bounds;
    this.#sinceMs = nowMs;
    return Math.max(0, Math.min(mostMs, Math.max(graceMs, this.#timeOf(1))) - this.#waitedMs);
  }

  /** Ends a wait. `octets` is 0 if the body has ended, or if the wait was aborted. */
  came(octets: number, nowMs: number): void {
    this.#octets += octets;
    this.#waitedMs += nowMs - this.#sinceMs;
  }

  /** True if the body is so slow that others should not wait behind it, whether or not it exceeds the limit. */
  get isSlow(): boolean {
    return this.#waitedMs > SLOW_MS && this.#waitedMs > this.#timeOf(SLOW_RATES);
  }

  /** Returns the time that the received octets take at this multiple of the minimum rate. */
  #timeOf(rates: number): number {
    return (this.#octets / (rates * this.#bounds.bytesASecond)) * 1000;
  }
}
