// Waiting for something to become true, with a deadline instead of a fixed sleep.

import { setTimeout as pause } from 'node:timers/promises';

/** The first value of `look` that is not false or undefined; throws when there is none in time. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<Exclude<T, false | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== false && value !== undefined) return value as Exclude<T, false | undefined>;
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(10);
  }
}
