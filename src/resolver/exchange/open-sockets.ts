// Limits how many sockets are open at once: a task that needs one more waits its turn, first come, first served.

export class OpenSockets {
  readonly #max: number;
  #open = 0;
  readonly #waiting = new Set<() => void>();
  #isServing = false;

  constructor(max: number) {
    this.#max = max;
  }

  get open(): number {
    return this.#open;
  }

  /** Half of the sockets are in use: callers should share them. */
  get areScarce(): boolean {
    return 2 * this.#open >= this.#max;
  }

  /** Calls `start` when it may open a socket, perhaps at once. Each start ends in one `release`. */
  take(start: () => void): void {
    this.#waiting.add(start);
    this.#serve();
  }

  /** False when `start` has been called already. */
  cancel(start: () => void): boolean {
    return this.#waiting.delete(start);
  }

  release(): void {
    this.#open--;
    this.#serve();
  }

  /**
   * Runs as a loop, since `start` may fail and release before it returns: thousands of calls in a row must not nest.
   */
  #serve(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      for (const start of this.#waiting) {
        if (this.#open >= this.#max) return;
        this.#waiting.delete(start);
        this.#open++;
        start();
      }
    } finally {
      this.#isServing = false;
    }
  }
}
