// Who is known to be beyond the limit, so that Postgres need not be asked; and the calls of the last 60 seconds that this
// process has let in, by which it counts alone while Postgres cannot.

import { type TakenCall, WINDOW_MS } from '../../store/accounts/call-windows.ts';

const MAX_SUBJECTS = 10_000;

interface Window {
  /** The times of the calls, oldest first. */
  calls: number[];
  /** Refused until then, by what all processes have let in. */
  blockedUntilMs: number;
}

export class MemoryWindows {
  readonly #rate: number;
  readonly #nowMs: () => number;
  readonly #windows = new Map<string, Window>();

  constructor(rate: number, nowMs: () => number) {
    this.#rate = rate;
    this.#nowMs = nowMs;
  }

  /** The refusal, if it is certain. */
  judge(subject: string): TakenCall | undefined {
    const waitMs = (this.#windows.get(subject)?.blockedUntilMs ?? 0) - this.#nowMs();
    return waitMs > 0 ? { admitted: false, used: this.#rate, waitMs } : undefined;
  }

  /** A call that was let in. */
  note(subject: string, atMs: number): void {
    const { calls } = this.#of(subject);
    calls.push(atMs);
    if (calls.length > this.#rate) calls.shift();
  }

  block(subject: string, untilMs: number): void {
    this.#of(subject).blockedUntilMs = untilMs;
  }

  /** Counts a call alone. */
  take(subject: string): TakenCall {
    const nowMs = this.#nowMs();
    const window = this.#of(subject);
    window.calls = window.calls.filter((at) => at > nowMs - WINDOW_MS);
    const admitted = window.calls.length < this.#rate;
    if (admitted) window.calls.push(nowMs);
    const [oldest = nowMs] = window.calls;
    return { admitted, used: window.calls.length, waitMs: oldest + WINDOW_MS - nowMs };
  }

  /** How many subjects are remembered, for tests. */
  get size(): number {
    return this.#windows.size;
  }

  #of(subject: string): Window {
    const window = this.#windows.get(subject) ?? { calls: [], blockedUntilMs: Number.NEGATIVE_INFINITY };
    this.#windows.delete(subject); // the map is in the order of use: the oldest goes first
    this.#windows.set(subject, window);
    if (this.#windows.size > MAX_SUBJECTS) {
      const [oldest = ''] = this.#windows.keys();
      this.#windows.delete(oldest);
    }
    return window;
  }
}
