// Measures whether a body arrives fast enough. Only the time in which this process waits for the body counts.

export interface PaceBounds {
  /** So long every body is waited for, in all. */
  readonly graceMs: number;
  /** After the grace it must have come so fast on average. */
  readonly bytesASecond: number;
  /** However much has come. */
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

  /** We wait from now on. For how many milliseconds we may; 0: it is too slow. */
  wait(nowMs: number): number {
    const { graceMs, mostMs } = this.#bounds;
    this.#sinceMs = nowMs;
    return Math.max(0, Math.min(mostMs, Math.max(graceMs, this.#timeOf(1))) - this.#waitedMs);
  }

  /** The wait is over. Without octets: the body is, or nobody waits any more. */
  came(octets: number, nowMs: number): void {
    this.#octets += octets;
    this.#waitedMs += nowMs - this.#sinceMs;
  }

  /** So slow that others should not wait behind it, whether or not it was too slow. */
  get isSlow(): boolean {
    return this.#waitedMs > SLOW_MS && this.#waitedMs > this.#timeOf(SLOW_RATES);
  }

  /** For what has come, at so many times the least rate. */
  #timeOf(rates: number): number {
    return (this.#octets / (rates * this.#bounds.bytesASecond)) * 1000;
  }
}
