// Limits the updates per second of each key in this process with a token bucket, which holds a burst.

const BURST_SECONDS = 4;
const MAX_KEYS = 10_000;

interface Bucket {
  left: number;
  atMs: number;
}

export class UpdateRates {
  readonly #perSecond: number;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<number, Bucket>();

  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#nowMs = nowMs;
  }

  /** Returns true if the key may update now, and counts the update. */
  take(keyId: number): boolean {
    const nowMs = this.#nowMs();
    const most = this.#perSecond * BURST_SECONDS;
    const { left, atMs } = this.#buckets.get(keyId) ?? { left: most, atMs: nowMs };
    const filled = Math.min(most, left + ((nowMs - atMs) / 1000) * this.#perSecond);
    const isAdmitted = filled >= 1;
    this.#buckets.delete(keyId); // the map is in the order of use
    this.#buckets.set(keyId, { left: isAdmitted ? filled - 1 : filled, atMs: nowMs });
    if (this.#buckets.size > MAX_KEYS) {
      const [oldest = 0] = this.#buckets.keys();
      this.#buckets.delete(oldest);
    }
    return isAdmitted;
  }
}
