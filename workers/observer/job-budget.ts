// Limits the number of jobs that an observer accepts, so that a compromised API cannot use it as a weapon.

/** Enough for a large fleet. Each job sends at most 60 packets (docs/rules.md "Limits of the resolver"). */
const PER_MINUTE = 1200;
/** This many jobs may arrive together after a pause. */
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
