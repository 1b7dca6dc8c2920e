// Unpredictable random octets for ids and letter case, drawn from the system a few thousand at a time: a system call
// for each question would cost more than all its other work.

import { randomFillSync } from 'node:crypto';

const POOL_OCTETS = 4096;

export class RandomOctets {
  readonly #pool = new Uint8Array(POOL_OCTETS);
  #used = POOL_OCTETS;

  /** The octets are valid until the next call. */
  take(octets: number): Uint8Array {
    if (this.#used + octets > POOL_OCTETS) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    this.#used += octets;
    return this.#pool.subarray(this.#used - octets, this.#used);
  }

  uint16(): number {
    const octets = this.take(2);
    return ((octets[0] as number) << 8) | (octets[1] as number);
  }
}
