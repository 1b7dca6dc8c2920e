// Bounds the log lines that clients can cause.

import type { Log } from '../../process/reconnect.ts';

const BURST = 20;
const LINES_PER_SECOND = 0.5;

/** Writes lines of one kind. While there are too many, they are only counted. */
export class BoundedLog {
  readonly #write: (fields: object, message: string) => void;
  #tokens = BURST;
  #filledAtMs = performance.now();
  #suppressed = 0;

  constructor(log: Log, level: keyof Log) {
    this.#write = (fields, message) => log[level](fields, message);
  }

  write(fields: object, message: string): void {
    const nowMs = performance.now();
    this.#tokens = Math.min(BURST, this.#tokens + ((nowMs - this.#filledAtMs) / 1000) * LINES_PER_SECOND);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) {
      this.#suppressed++;
      return;
    }
    this.#tokens--;
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    this.#write(suppressed === 0 ? fields : { ...fields, suppressed }, message);
  }
}
