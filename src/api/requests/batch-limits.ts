// Limits the cost of request batches. Few are processed concurrently, since each takes some MiB, and each edge has a
// budget of bytes that refills over time.

const PLACES = 6;
const PLACES_PER_EDGE = 2;
const LAST_PLACES = 2;
const PLACES_OF_SLOW_EDGES = 3;
const SLOW_FOR_MS = 60_000;

/**
 * Slots for the batches that this process handles. The last slots are for edges that use none and were not slow.
 * Edges that were slow share half of the slots, because a body that arrives slowly occupies its slot for a long time.
 */
export class BatchPlaces {
  readonly #nowMs: () => number;
  readonly #held = new Map<number, number>();
  readonly #slowUntilMs = new Map<number, number>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  take(edgeId: number): boolean {
    const own = this.#held.get(edgeId) ?? 0;
    if (!this.#mayTake(edgeId, own)) return false;
    this.#held.set(edgeId, own + 1);
    return true;
  }

  /** Releases the slot of a batch that succeeded or failed. */
  give(edgeId: number, wasSlow: boolean): void {
    const left = (this.#held.get(edgeId) ?? 1) - 1;
    if (left === 0) this.#held.delete(edgeId);
    else this.#held.set(edgeId, left);
    if (wasSlow) this.#slowUntilMs.set(edgeId, this.#nowMs() + SLOW_FOR_MS);
  }

  #mayTake(edgeId: number, own: number): boolean {
    for (const [id, untilMs] of this.#slowUntilMs) if (untilMs <= this.#nowMs()) this.#slowUntilMs.delete(id);
    let all = 0;
    let ofSlow = 0;
    for (const [id, count] of this.#held) {
      all += count;
      if (this.#slowUntilMs.has(id)) ofSlow += count;
    }
    const isSlow = this.#slowUntilMs.has(edgeId);
    if (isSlow && (own > 0 || ofSlow >= PLACES_OF_SLOW_EDGES)) return false;
    return own < PLACES_PER_EDGE && all < (own > 0 || isSlow ? PLACES - LAST_PLACES : PLACES);
  }
}

interface Account {
  bytes: number;
  atMs: number;
}

const MOST_ACCOUNTS = 10_000;

export interface Budget {
  readonly bytes: number;
  readonly bytesASecond: number;
}

/** The size of a call is known only afterwards: one call may overdraw the budget, and the next one has to wait. */
export class ByteBudget {
  readonly #budget: Budget;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<number, Account>();

  constructor(budget: Budget, nowMs: () => number = () => performance.now()) {
    this.#budget = budget;
    this.#nowMs = nowMs;
  }

  /** Returns the seconds until the edge may call again, or undefined if it may call now. */
  judge(edgeId: number): number | undefined {
    const { bytes } = this.#of(edgeId);
    return bytes > 0 ? undefined : Math.ceil((1 - bytes) / this.#budget.bytesASecond);
  }

  take(edgeId: number, bytes: number): void {
    this.#of(edgeId).bytes -= bytes;
  }

  #of(edgeId: number): Account {
    const nowMs = this.#nowMs();
    const { bytes: most, bytesASecond } = this.#budget;
    const known = this.#accounts.get(edgeId) ?? { bytes: most, atMs: nowMs };
    known.bytes = Math.min(most, known.bytes + ((nowMs - known.atMs) / 1000) * bytesASecond);
    known.atMs = nowMs;
    this.#accounts.set(edgeId, known);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > MOST_ACCOUNTS && oldest !== undefined) this.#accounts.delete(oldest);
    return known;
  }
}
