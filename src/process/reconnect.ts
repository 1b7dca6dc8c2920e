// Helps modules that reconnect to Postgres: limits their log lines, computes the time until the next attempt, and waits
// until then or until a signal.

import { setTimeout as pause } from 'node:timers/promises';

/** Any logger with pino's interface. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Backoff {
  nextMs(): number;
  reset(): void;
}

const WARN_MS = 60_000;
const FIRST_MS = 100;
const LONGEST_MS = 5000;

/**
 * Returns a function that logs each message at most once per minute, with the number of calls since its last line. Calls
 * with another `of` are logged and counted separately.
 */
export function warnOncePerMinute(
  log: Pick<Log, 'warn'>,
  nowMs: () => number = () => performance.now(),
): (error: unknown, message: string, of?: string) => void {
  const lines = new Map<string, { loggedAtMs: number; calls: number }>();
  return (error, message, of) => {
    const key = `${of} ${message}`;
    const line = lines.get(key) ?? { loggedAtMs: Number.NEGATIVE_INFINITY, calls: 0 };
    lines.set(key, line);
    line.calls++;
    if (nowMs() - line.loggedAtMs < WARN_MS) return;
    log.warn({ err: error, of, calls: line.calls }, message);
    line.loggedAtMs = nowMs();
    line.calls = 0;
  };
}

/** Waits double up to 5 s. Half of each is random, so that a fleet does not reconnect at the same moment. */
export function createBackoff(): Backoff {
  let ms = FIRST_MS;
  return {
    nextMs() {
      const now = ms;
      ms = Math.min(LONGEST_MS, ms * 2);
      return now / 2 + (Math.random() * now) / 2;
    },
    reset() {
      ms = FIRST_MS;
    },
  };
}

/** Ends early, without an error, if the process must stop. A negative time is no pause. */
export async function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  await pause(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}

/** A wait that `wake` ends. A call of `wake` without a waiter is kept for the next wait. */
export class Wakeup {
  #woken = false;
  #end: (() => void) | undefined;

  wake(): void {
    this.#woken = true;
    this.#end?.();
  }

  async wait(timeoutMs: number): Promise<void> {
    if (!this.#woken) await this.#sleep(timeoutMs);
    this.#woken = false;
  }

  async #sleep(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#end = undefined;
  }
}
