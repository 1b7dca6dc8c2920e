// Response rate limiting: how many equal UDP answers one network may get in a second, so that a forged source address
// gains little. Token buckets in a shared table of fixed size: a flood of networks forgets quiet buckets, memory never
// grows. Threads write without locks: a lost count lets one answer more through.

import { randomBytes } from 'node:crypto';

/** `drop` and `truncate` alternate beyond the rate: a real client gets through over TCP. */
export type RateDecision = 'send' | 'truncate' | 'drop';

/** In place of a type: NXDOMAIN, referrals and errors share one bucket per zone. */
export const ZONE_BUCKET = 0x10000;
/** In place of a type: every NODATA answer of a name. */
export const NODATA_BUCKET = 0x10001;

const WAYS = 4;
const DEFAULT_SETS = 1 << 16;

const HEADER = { SETS: 0, SEED: 1, ANSWERS_PER_SECOND: 2 } as const;
const HEADER_WORDS = 16; // a cache line

// A bucket is four words, so that the four of a set fill a cache line. A key of 0 is a free place.
const BUCKET = { KEY: 0, TOKENS: 1, FILLED_AT_MS: 2, EXCEEDED: 3 } as const;
const BUCKET_WORDS = 4;

export class RateLimit {
  /** The table, for `RateLimit.on` in another thread. */
  readonly buffer: SharedArrayBuffer;
  readonly #answersPerSecond: number;
  readonly #mask: number;
  readonly #seed: number;
  readonly #words: Int32Array;
  /** The same octets as numbers: tokens. */
  readonly #floats: Float32Array;

  /** `sets` of four buckets each: a power of two; the default takes 4 MiB. */
  constructor(answersPerSecond: number, sets: number = DEFAULT_SETS, buffer?: SharedArrayBuffer) {
    if (!(answersPerSecond >= 1)) throw new RangeError('a rate limit is at least one answer a second');
    if (sets < 1 || (sets & (sets - 1)) !== 0)
      throw new RangeError('the sets of a rate limit are a power of two');
    this.buffer = buffer ?? new SharedArrayBuffer((HEADER_WORDS + sets * WAYS * BUCKET_WORDS) * 4);
    this.#words = new Int32Array(this.buffer);
    this.#floats = new Float32Array(this.buffer);
    if (buffer === undefined) {
      this.#words[HEADER.SETS] = sets;
      this.#words[HEADER.SEED] = randomBytes(4).readInt32LE(); // nobody can choose names that share a bucket
      this.#floats[HEADER.ANSWERS_PER_SECOND] = answersPerSecond;
    }
    this.#answersPerSecond = answersPerSecond;
    this.#mask = sets - 1;
    this.#seed = this.#words[HEADER.SEED] as number;
  }

  /** The rate limit whose table this is. */
  static on(buffer: SharedArrayBuffer): RateLimit {
    const sets = new Int32Array(buffer)[HEADER.SETS] as number;
    const answersPerSecond = new Float32Array(buffer)[HEADER.ANSWERS_PER_SECOND] as number;
    return new RateLimit(answersPerSecond, sets, buffer);
  }

  /**
   * Counts one answer to the network (/24 of 4 octets, /56 of 16) of the address at `fromAt`, about the name with this hash,
   * and a type. `nowMs` is taken modulo 2^32.
   */
  decide(
    from: Uint8Array,
    fromAt: number,
    fromOctets: number,
    nameHash: number,
    type: number,
    nowMs: number,
  ): RateDecision {
    const network = fromOctets === 4 ? 3 : 7;
    let index = this.#seed ^ fromOctets;
    let key = Math.imul(this.#seed, 0x9e3779b1) ^ type;
    for (let i = 0; i < network; i++) {
      const octet = from[fromAt + i] as number;
      index = Math.imul(index ^ octet, 0x01000193);
      key = Math.imul(key ^ octet, 0x5bd1e995);
    }
    index = mix(index ^ Math.imul(type, 0x85ebca6b) ^ nameHash);
    key = mix(key ^ Math.imul(nameHash, 0x9e3779b1)) || 1;
    return this.#take(this.#find((index & this.#mask) * WAYS, key, nowMs), nowMs);
  }

  /** Word of the bucket of `key` in the set from bucket `first` on; else the one that holds the most tokens is made it. */
  #find(first: number, key: number, nowMs: number): number {
    const words = this.#words;
    const start = HEADER_WORDS + first * BUCKET_WORDS;
    for (let at = start; at < start + WAYS * BUCKET_WORDS; at += BUCKET_WORDS) {
      if (words[at + BUCKET.KEY] === key) return at;
    }
    let fullest = start;
    let most = -1;
    for (let at = start; at < start + WAYS * BUCKET_WORDS; at += BUCKET_WORDS) {
      const tokens = words[at + BUCKET.KEY] === 0 ? Number.POSITIVE_INFINITY : this.#filled(at, nowMs);
      if (tokens > most) {
        most = tokens;
        fullest = at;
      }
    }
    words[fullest + BUCKET.KEY] = key;
    this.#floats[fullest + BUCKET.TOKENS] = this.#answersPerSecond;
    words[fullest + BUCKET.FILLED_AT_MS] = nowMs;
    words[fullest + BUCKET.EXCEEDED] = 0;
    return fullest;
  }

  #filled(at: number, nowMs: number): number {
    const elapsedMs = Math.max(0, (nowMs - (this.#words[at + BUCKET.FILLED_AT_MS] as number)) | 0);
    const tokens = (this.#floats[at + BUCKET.TOKENS] as number) + (elapsedMs * this.#answersPerSecond) / 1000;
    return Math.min(this.#answersPerSecond, tokens);
  }

  #take(at: number, nowMs: number): RateDecision {
    const tokens = this.#filled(at, nowMs);
    this.#words[at + BUCKET.FILLED_AT_MS] = nowMs;
    if (tokens >= 1) {
      this.#floats[at + BUCKET.TOKENS] = tokens - 1;
      return 'send';
    }
    this.#floats[at + BUCKET.TOKENS] = tokens;
    const exceeded = (this.#words[at + BUCKET.EXCEEDED] as number) ^ 1;
    this.#words[at + BUCKET.EXCEEDED] = exceeded;
    return exceeded === 1 ? 'drop' : 'truncate';
  }
}

/** The finalizer of MurmurHash3: every bit of the hash depends on every bit of the input. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
