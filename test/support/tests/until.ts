// Waits until something is true, with a deadline instead of a fixed sleep. The deadline ends a hanging test, and is long
// enough for a busy machine.

import { performance } from 'node:perf_hooks'; // real time, even if a test has a fake clock
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Returns the first value of `look` that is not false or undefined. Throws after the deadline. The message contains `what`
 * or, without it, the text of `look`; a function is called at the end.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string | (() => string) = look.toString(),
  timeoutMs = 120_000,
): Promise<Exclude<T, false | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== false && value !== undefined) return value as Exclude<T, false | undefined>;
    if (performance.now() > deadline) {
      throw new Error(`not within ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`);
    }
    await pause(5);
  }
}
