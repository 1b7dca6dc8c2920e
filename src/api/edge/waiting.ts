// Those who wait until something may have changed.

export class Waiting {
  readonly #ends = new Set<() => void>();

  /** Until the next `tell`, or the time is over, or `signal` is aborted. */
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
