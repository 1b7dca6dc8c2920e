// How many jobs an observer takes: an API that was taken over must not make it a weapon, whatever it asks for.

/** As many as a large fleet needs; each sends at most 60 packets (docs/rules.md "Limits of the resolver"). */
const PER_MINUTE = 1200;
/** After a pause so many may come at once. */
const BURST = 240;

export class JobBudget {
  #left = BURST;
  #filledAt: number;

  constructor(nowMs: number) {
    this.#filledAt = nowMs;
  }

  available(nowMs: number): number {
    const passedMs = Math.max(0, nowMs - this.#filledAt); // the clock may be set back
    this.#left = Math.min(BURST, this.#left + (passedMs * PER_MINUTE) / 60_000);
    this.#filledAt = nowMs;
    return Math.floor(this.#left);
  }

  take(count: number): void {
    this.#left -= count;
  }
}
