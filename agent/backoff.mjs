// @ts-check
// Delays between attempts: growing, and random so that edges do not retry together. They end early when the agent stops.

import { setTimeout as wait } from 'node:timers/promises';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

export class Backoff {
  /** @param {number} firstMs @param {number} longestMs */
  constructor(firstMs = FIRST_WAIT_MS, longestMs = LONGEST_WAIT_MS) {
    this.firstMs = firstMs;
    this.longestMs = longestMs;
    this.nextMs = firstMs;
  }

  /** Resets the delay after a success. */
  reset() {
    this.nextMs = this.firstMs;
  }

  /** @param {AbortSignal} stopped */
  async wait(stopped) {
    await pause(this.nextMs * (0.5 + Math.random()), stopped);
    this.nextMs = Math.min(this.nextMs * 2, this.longestMs);
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} stopped
 */
export async function pause(ms, stopped) {
  await wait(ms, undefined, { signal: stopped }).catch(() => undefined);
}
