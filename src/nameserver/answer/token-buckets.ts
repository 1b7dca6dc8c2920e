// A table of token buckets of fixed size in shared memory. Threads write without locks; a lost count lets one more
// answer through. Slots are chosen by hashes with random seeds, so an attacker cannot target a bucket.

import { randomBytes } from 'node:crypto';
import type { Client } from './client.ts';

const WAYS = 4;
const DEFAULT_SETS = 1 << 16;

const HEADER = { SETS: 0, SEED: 1, SECOND_SEED: 2, PER_SECOND: 3 } as const;
const HEADER_WORDS = 16; // a cache line

// A bucket is four words, so that the four buckets of a set fill a cache line. Key 0 marks a free slot.
const BUCKET = { KEY: 0, TOKENS: 1, FILLED_AT_MS: 2, EXCEEDED: 3 } as const;
const BUCKET_WORDS = 4;

// Keys of networks.
const IPV4_KEY = 1 << 24;
const IPV6_KEY = 1 << 31;

export class TokenBuckets {
  /** The table's memory, for `on` in another thread. */
  readonly buffer: SharedArrayBuffer;
  readonly perSecond: number;
  /** Maximum number of tokens in a bucket. */
  readonly capacity: number;
  /** Seeds for the hashes and keys that callers compute. */
  readonly seed: number;
  readonly secondSeed: number;
  readonly #mask: number;
  readonly #words: Int32Array;
  /** The same memory as floating-point numbers, for the tokens. */
  readonly #floats: Float32Array;

  /** @param sets number of four-way sets, a power of two; the default takes 4 MiB */
  constructor(perSecond: number, capacity: number, sets: number = DEFAULT_SETS, buffer?: SharedArrayBuffer) {
    if (!(perSecond >= 1)) throw new RangeError('a rate limit must be at least one per second');
    if (sets < 1 || (sets & (sets - 1)) !== 0)
      throw new RangeError('the number of sets of a rate limit must be a power of two');
    this.buffer = buffer ?? new SharedArrayBuffer((HEADER_WORDS + sets * WAYS * BUCKET_WORDS) * 4);
    this.#words = new Int32Array(this.buffer);
    this.#floats = new Float32Array(this.buffer);
    if (buffer === undefined) {
      const seeds = randomBytes(8);
      this.#words[HEADER.SETS] = sets;
      this.#words[HEADER.SEED] = seeds.readInt32LE(0);
      this.#words[HEADER.SECOND_SEED] = seeds.readInt32LE(4);
      this.#floats[HEADER.PER_SECOND] = perSecond;
    }
    this.perSecond = perSecond;
    this.capacity = capacity;
    this.#mask = sets - 1;
    this.seed = this.#words[HEADER.SEED] as number;
    this.secondSeed = this.#words[HEADER.SECOND_SEED] as number;
  }

  static perSecondOf(buffer: SharedArrayBuffer): number {
    return new Float32Array(buffer)[HEADER.PER_SECOND] as number;
  }

  static setsOf(buffer: SharedArrayBuffer): number {
    return new Int32Array(buffer)[HEADER.SETS] as number;
  }

  /**
   * Returns the index of the bucket of `key` (not 0) in the set of `hash`. If the key has none, it takes over the
   * fullest bucket of the set, because a full bucket holds no history. With `inherits`, the bucket keeps its tokens, so
   * that a new key gains none; otherwise it becomes full.
   */
  find(hash: number, key: number, nowMs: number, inherits: boolean): number {
    const words = this.#words;
    const start = HEADER_WORDS + (hash & this.#mask) * WAYS * BUCKET_WORDS;
    for (let at = start; at < start + WAYS * BUCKET_WORDS; at += BUCKET_WORDS) {
      if (words[at + BUCKET.KEY] === key) return at;
    }
    let fullest = start;
    let most = -1;
    for (let at = start; at < start + WAYS * BUCKET_WORDS; at += BUCKET_WORDS) {
      const tokens = words[at + BUCKET.KEY] === 0 ? Number.POSITIVE_INFINITY : this.tokens(at, nowMs);
      if (tokens > most) {
        most = tokens;
        fullest = at;
      }
    }
    words[fullest + BUCKET.KEY] = key;
    this.setTokens(fullest, inherits && most < this.capacity ? most : this.capacity, nowMs);
    words[fullest + BUCKET.EXCEEDED] = 0;
    return fullest;
  }

  /**
   * Returns the index of the bucket of the client's network (/24 for IPv4, /56 for IPv6). If there are more networks than
   * slots, networks share a bucket: a new network inherits the tokens of the fullest bucket in its set. A flood of forged
   * networks therefore cannot reset the table to get another burst, and it limits other networks only if all four buckets
   * of their set are empty.
   */
  findNetwork({ address, at, octets }: Client, nowMs: number): number {
    const { seed, secondSeed } = this;
    const first =
      ((address[at] as number) << 16) | ((address[at + 1] as number) << 8) | (address[at + 2] as number);
    if (octets === 4) return this.find(mix(mix(first ^ seed) ^ secondSeed), first | IPV4_KEY, nowMs, true);
    const fourth = (first << 8) | (address[at + 3] as number);
    const rest =
      ((address[at + 4] as number) << 16) | ((address[at + 5] as number) << 8) | (address[at + 6] as number);
    const hash = mix(mix(fourth ^ seed) ^ rest ^ secondSeed);
    const key = mix(mix(rest ^ seed) ^ fourth ^ ~secondSeed) | IPV6_KEY;
    return this.find(hash, key, nowMs, true);
  }

  /** Returns the current tokens of the bucket at this index. `nowMs` is taken modulo 2^32. */
  tokens(at: number, nowMs: number): number {
    const elapsedMs = Math.max(0, (nowMs - (this.#words[at + BUCKET.FILLED_AT_MS] as number)) | 0);
    const tokens = (this.#floats[at + BUCKET.TOKENS] as number) + (elapsedMs * this.perSecond) / 1000;
    return Math.min(this.capacity, tokens);
  }

  setTokens(at: number, tokens: number, nowMs: number): void {
    this.#floats[at + BUCKET.TOKENS] = tokens;
    this.#words[at + BUCKET.FILLED_AT_MS] = nowMs;
  }

  /** Alternates between false and true. */
  alternate(at: number): boolean {
    const exceeded = (this.#words[at + BUCKET.EXCEEDED] as number) ^ 1;
    this.#words[at + BUCKET.EXCEEDED] = exceeded;
    return exceeded === 0;
  }
}

/** Finalizer of MurmurHash3: every bit of the result depends on every bit of the input. */
export function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
