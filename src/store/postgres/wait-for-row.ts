// Waits for a row that another process is about to write.

import { setTimeout as pause } from 'node:timers/promises';

export interface Waiting {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Fast work takes a few milliseconds; what is not there after a second takes longer. */
const INTERVAL_MS = 50;
const SLOW_INTERVAL_MS = 200;
const SLOW_AFTER_MS = 1000;

/** Gives the first row that `find` finds. Undefined: the time is over, or `signal` has aborted. */
export async function waitForRow<T>(
  find: () => Promise<T | undefined>,
  { timeoutMs, signal }: Waiting,
): Promise<T | undefined> {
  const begun = performance.now();
  for (;;) {
    const found = await find();
    const passedMs = performance.now() - begun;
    if (found !== undefined || passedMs >= timeoutMs || signal.aborted) return found;
    const intervalMs = passedMs < SLOW_AFTER_MS ? INTERVAL_MS : SLOW_INTERVAL_MS;
    await pause(Math.min(intervalMs, timeoutMs - passedMs), undefined, { signal }).catch(() => {});
  }
}
