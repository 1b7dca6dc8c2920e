// Waits until every nameserver has loaded a change. All waiting callers share one database query at a time. If no
// caller waits, nothing is queried.

import type { InSync } from '../../store/feed/in-sync.ts';

/** Nodes report their position at most every 50 ms. */
const INTERVAL_MS = 25;
/** Interval after the first second. A change that takes longer is delayed for another reason. */
const SLOW_INTERVAL_MS = 100;
const SLOW_AFTER_MS = 1000;

interface Waiter {
  readonly changeId: number;
  readonly sinceMs: number;
  settle(state: InSync | undefined): void;
  fail(error: unknown): void;
}

export class SyncWatch {
  readonly #query: (changeIds: readonly number[]) => Promise<Map<number, InSync>>;
  readonly #waiters = new Set<Waiter>();
  #running = false;

  constructor(query: (changeIds: readonly number[]) => Promise<Map<number, InSync>>) {
    this.#query = query;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  wait(changeId: number, timeoutMs: number, gone: AbortSignal): Promise<InSync | undefined> {
    return new Promise((resolve, reject) => {
      let last: InSync | undefined;
      const leave = (): void => {
        clearTimeout(timer);
        gone.removeEventListener('abort', end);
        this.#waiters.delete(waiter);
      };
      const end = (): void => {
        leave();
        resolve(last);
      };
      const waiter: Waiter = {
        changeId,
        sinceMs: performance.now(),
        settle(state) {
          last = state;
          if (state?.inSync !== false) end();
        },
        fail(error) {
          leave();
          reject(error);
        },
      };
      const timer = setTimeout(end, timeoutMs);
      gone.addEventListener('abort', end);
      if (gone.aborted) return end();
      this.#waiters.add(waiter);
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiters.size > 0) {
      const waiters = [...this.#waiters];
      try {
        const states = await this.#query([...new Set(waiters.map(({ changeId }) => changeId))]);
        for (const waiter of waiters)
          if (this.#waiters.has(waiter)) waiter.settle(states.get(waiter.changeId));
      } catch (error) {
        for (const waiter of waiters) if (this.#waiters.has(waiter)) waiter.fail(error);
      }
      if (this.#waiters.size > 0) await pause(this.#intervalMs());
    }
    this.#running = false;
  }

  #intervalMs(): number {
    const nowMs = performance.now();
    const isFresh = [...this.#waiters].some(({ sinceMs }) => nowMs - sinceMs < SLOW_AFTER_MS);
    return isFresh ? INTERVAL_MS : SLOW_INTERVAL_MS;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
