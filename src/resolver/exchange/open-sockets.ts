// Limits the number of open sockets. Tasks that need one more wait in order of arrival.

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

  /** True if half of the sockets are in use, so that callers should share them. */
  get areScarce(): boolean {
    return 2 * this.#open >= this.#max;
  }

  /** Calls `start`, possibly immediately, when it may open a socket. Each start requires one `release`. */
  take(start: () => void): void {
    this.#waiting.add(start);
    this.#serve();
  }

  /** Returns false if `start` has already been called. */
  cancel(start: () => void): boolean {
    return this.#waiting.delete(start);
  }

  release(): void {
    this.#open--;
    this.#serve();
  }

  /** Runs as a loop, because `start` may fail and release before it returns. Thousands of calls in a row must not nest. */
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
