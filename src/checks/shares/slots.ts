// The slots of a process: how many checks it makes at a time. A check that has waited long for packets moves to the slow
// slots, a quarter of all, whoever's it is, so that however many parents are silent, three quarters go on. Pure.

/** How long a check may wait for packets before it is slow. */
export const SLOW_AFTER_MS = 1000;
const SLOW_SHARE = 0.25;

export class Slots {
  readonly #slowMost: number;
  #slow = 0;
  #refused = 0;

  constructor(total: number) {
    this.#slowMost = Math.max(1, Math.floor(total * SLOW_SHARE));
  }

  /** How many slow slots are taken. */
  get slow(): number {
    return this.#slow;
  }

  /** How many checks ended since no slow slot was free. */
  get refused(): number {
    return this.#refused;
  }

  /** A check becomes slow: false when no slow slot is free, and it has to end. */
  takeSlow(): boolean {
    if (this.#slow >= this.#slowMost) {
      this.#refused++;
      return false;
    }
    this.#slow++;
    return true;
  }

  /** A slow check has ended. */
  giveBack(): void {
    this.#slow--;
  }
}
