// Response rate limiting: how many equal UDP answers one network may get in a second, so that a forged source address
// gains little. Token buckets in a table of fixed size: a flood of networks forgets quiet buckets, memory never grows.

import { randomBytes } from 'node:crypto';

/** `drop` and `truncate` alternate beyond the rate: a real client gets through over TCP. */
export type RateDecision = 'send' | 'truncate' | 'drop';

/** In place of a type: NXDOMAIN, referrals and errors share one bucket per zone. */
export const ZONE_BUCKET = 0x10000;
/** In place of a type: every NODATA answer of a name. */
export const NODATA_BUCKET = 0x10001;

const WAYS = 4;
const DEFAULT_SETS = 1 << 16;

export class RateLimit {
  readonly #answersPerSecond: number;
  readonly #mask: number;
  readonly #seed: number;
  // A bucket is one index into all four. A key of 0 is a free place.
  readonly #keys: Uint32Array;
  readonly #tokens: Float32Array;
  readonly #filledAtMs: Float64Array;
  readonly #exceeded: Uint8Array;

  /** `sets` of four buckets each: a power of two; the default takes 4.5 MB. */
  constructor(answersPerSecond: number, sets: number = DEFAULT_SETS) {
    if (!(answersPerSecond >= 1)) throw new RangeError('a rate limit is at least one answer a second');
    if (sets < 1 || (sets & (sets - 1)) !== 0)
      throw new RangeError('the sets of a rate limit are a power of two');
    this.#answersPerSecond = answersPerSecond;
    this.#mask = sets - 1;
    this.#seed = randomBytes(4).readInt32LE(); // nobody can choose names that share a bucket with another's
    const buckets = sets * WAYS;
    this.#keys = new Uint32Array(buckets);
    this.#tokens = new Float32Array(buckets);
    this.#filledAtMs = new Float64Array(buckets);
    this.#exceeded = new Uint8Array(buckets);
  }

  /** Counts one answer to the network of `address` (/24 of 4 octets, /56 of 16) about a name and type. */
  decide(address: Uint8Array, name: string, type: number, nowMs: number): RateDecision {
    const network = address.length === 4 ? 3 : 7;
    let index = this.#seed ^ address.length;
    let key = Math.imul(this.#seed, 0x9e3779b1) ^ type;
    for (let i = 0; i < network; i++) {
      index = Math.imul(index ^ (address[i] as number), 0x01000193);
      key = Math.imul(key ^ (address[i] as number), 0x5bd1e995);
    }
    for (let i = 0; i < name.length; i++) {
      index = Math.imul(index ^ name.charCodeAt(i), 0x01000193);
      key = Math.imul(key ^ name.charCodeAt(i), 0x5bd1e995);
      key ^= key >>> 15;
    }
    index = mix(index ^ Math.imul(type, 0x85ebca6b));
    return this.#take(this.#find((index & this.#mask) * WAYS, mix(key) >>> 0 || 1, nowMs), nowMs);
  }

  /** The bucket of `key` in the set that starts at `first`; else the one that holds the most tokens is made it. */
  #find(first: number, key: number, nowMs: number): number {
    let fullest = first;
    let most = -1;
    for (let at = first; at < first + WAYS; at++) {
      if (this.#keys[at] === key) return at;
      const tokens = this.#keys[at] === 0 ? Number.POSITIVE_INFINITY : this.#filled(at, nowMs);
      if (tokens > most) {
        most = tokens;
        fullest = at;
      }
    }
    this.#keys[fullest] = key;
    this.#tokens[fullest] = this.#answersPerSecond;
    this.#filledAtMs[fullest] = nowMs;
    this.#exceeded[fullest] = 0;
    return fullest;
  }

  #filled(at: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - (this.#filledAtMs[at] as number));
    const tokens = (this.#tokens[at] as number) + (elapsedMs * this.#answersPerSecond) / 1000;
    return Math.min(this.#answersPerSecond, tokens);
  }

  #take(at: number, nowMs: number): RateDecision {
    const tokens = this.#filled(at, nowMs);
    this.#filledAtMs[at] = nowMs;
    if (tokens >= 1) {
      this.#tokens[at] = tokens - 1;
      return 'send';
    }
    this.#tokens[at] = tokens;
    this.#exceeded[at] = (this.#exceeded[at] as number) ^ 1;
    return this.#exceeded[at] === 1 ? 'drop' : 'truncate';
  }
}

/** The finalizer of MurmurHash3: every bit of the hash depends on every bit of the input. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
