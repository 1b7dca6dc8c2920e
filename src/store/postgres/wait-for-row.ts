// Waits for a row that another process is about to write.

import { setTimeout as pause } from 'node:timers/promises';

export interface Waiting {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Most rows appear within milliseconds. Those that take longer than a second are polled less often. */
const INTERVAL_MS = 50;
const SLOW_INTERVAL_MS = 200;
const SLOW_AFTER_MS = 1000;

/** Returns the first row that `find` returns, or undefined after the timeout or an abort by `signal`. */
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
