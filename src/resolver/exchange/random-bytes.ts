// Provides unpredictable random bytes for ids and letter case. Reads a few thousand at a time, because a system call per
// query would cost more than all of its other work.

import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

export class RandomBytes {
  readonly #pool = new Uint8Array(POOL_BYTES);
  #used = POOL_BYTES;

  /** The bytes are valid until the next call. */
  take(bytes: number): Uint8Array {
    if (this.#used + bytes > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    this.#used += bytes;
    return this.#pool.subarray(this.#used - bytes, this.#used);
  }

  uint16(): number {
    const bytes = this.take(2);
    return ((bytes[0] as number) << 8) | (bytes[1] as number);
  }
}
