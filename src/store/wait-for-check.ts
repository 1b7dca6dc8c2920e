// Waiting for a check that was asked for: a worker makes it, and whoever asked finds its run by the request.

import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from './database.ts';
import { findCheckByRequest, type SavedRun } from './load-checks.ts';

/** A check with a warm cache takes a few milliseconds; one that is not there after a second takes longer. */
const INTERVAL_MS = 50;
const SLOW_INTERVAL_MS = 200;
const SLOW_AFTER_MS = 1000;

/** Undefined: the time is over, or `signal` was raised. */
export async function waitForCheck(
  db: Database,
  request: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SavedRun | undefined> {
  const begun = performance.now();
  for (;;) {
    const run = await findCheckByRequest(db, request);
    const passedMs = performance.now() - begun;
    if (run !== undefined || passedMs >= timeoutMs || signal.aborted) return run;
    const intervalMs = passedMs < SLOW_AFTER_MS ? INTERVAL_MS : SLOW_INTERVAL_MS;
    await pause(Math.min(intervalMs, timeoutMs - passedMs), undefined, { signal }).catch(() => {});
  }
}
