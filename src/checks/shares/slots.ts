// Slots for concurrent checks in a process. A check that has waited long for packets moves to the slow slots, a quarter of
// all, regardless of its account. However many parents are silent, three quarters of the slots remain for other checks.

/** How long a check may wait for packets before it counts as slow. */
export const SLOW_AFTER_MS = 1000;
const SLOW_SHARE = 0.25;

export class Slots {
  readonly #slowMost: number;
  #slow = 0;
  #refused = 0;

  constructor(total: number) {
    this.#slowMost = Math.max(1, Math.floor(total * SLOW_SHARE));
  }

  /** Number of occupied slow slots. */
  get slow(): number {
    return this.#slow;
  }

  /** Number of checks that ended because no slow slot was free. */
  get refused(): number {
    return this.#refused;
  }

  /** Moves a check to a slow slot. Returns false if none is free, in which case the check must end. */
  takeSlow(): boolean {
    if (this.#slow >= this.#slowMost) {
      this.#refused++;
      return false;
    }
    this.#slow++;
    return true;
  }

  /** Releases the slot of a slow check. */
  giveBack(): void {
    this.#slow--;
  }
}
