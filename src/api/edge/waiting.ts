// Limits the number of concurrent tasks, and lets callers wait until something may have changed.

/** Runs a limited number of tasks concurrently. The others wait in the order of their arrival. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

export class Waiting {
  readonly #ends = new Set<() => void>();

  /** Waits until the next `tell`, until the time is over, or until `signal` is aborted. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#ends.delete(end);
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener('abort', end);
      this.#ends.add(end);
    });
  }

  tell(): void {
    for (const end of [...this.#ends]) end();
  }
}
