// Who may have a batch worked on: each takes some MiB, so the places are few, and a body that comes slowly keeps one for long. The last
// ones are for edges that have none and were not slow; those that were have half of them in all.

const PLACES = 6;
const PLACES_OF_AN_EDGE = 2;
const LAST_PLACES = 2;
const PLACES_OF_SLOW_EDGES = 3;
const SLOW_FOR_MS = 60_000;

/** In one process. */
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

  /** Its batch is over, whatever came of it. */
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
    return own < PLACES_OF_AN_EDGE && all < (own > 0 || isSlow ? PLACES - LAST_PLACES : PLACES);
  }
}
