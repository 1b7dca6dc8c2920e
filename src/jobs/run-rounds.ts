// Repeats a round of work until it is stopped: immediately if there is more work, after a pause if there was none,
// and after longer pauses if it fails.

import { setTimeout as pause } from 'node:timers/promises';

interface RoundsOptions {
  readonly round: () => Promise<{ readonly isMore: boolean }>;
  readonly idleMs: number;
  readonly onTrouble: (error: unknown) => void;
}

export interface Rounds {
  /** Resolves when the current round has ended. */
  stop(): Promise<void>;
}

const BUSY_MS = 50;
const LONGEST_BACKOFF_MS = 10_000;

export function runRounds(options: RoundsOptions): Rounds {
  const stopping = new AbortController();
  const running = repeat(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Returns the pause after this many consecutive failures, at least 1. */
export function backoffMs(idleMs: number, failures: number): number {
  return Math.min(idleMs * 2 ** failures, LONGEST_BACKOFF_MS);
}

async function repeat({ round, idleMs, onTrouble }: RoundsOptions, stopping: AbortSignal): Promise<void> {
  let failures = 0;
  while (!stopping.aborted) {
    let waitMs = idleMs;
    try {
      if ((await round()).isMore) waitMs = BUSY_MS;
      failures = 0;
    } catch (error) {
      failures++;
      waitMs = backoffMs(idleMs, failures);
      onTrouble(error);
    }
    await pause(waitMs, undefined, { signal: stopping }).catch(() => {});
  }
}
