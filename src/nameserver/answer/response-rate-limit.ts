// Response rate limiting: bounds how many equal UDP answers one network gets in a second, so that a forged source
// address gains little. When a flood brings many networks or names, the table forgets quiet buckets.

import type { Client } from './client.ts';
import { mix, TokenBuckets } from './token-buckets.ts';

/** `drop` and `truncate` alternate beyond the rate, so that a real client gets its answer over TCP. */
export type RateDecision = 'send' | 'truncate' | 'drop';

/** Used in place of a type: NXDOMAIN, referrals and errors share one bucket for each zone. */
export const ZONE_BUCKET = 0x10000;
/** Used in place of a type: all NODATA answers of a name share one bucket. */
export const NODATA_BUCKET = 0x10001;

export class RateLimit {
  readonly #buckets: TokenBuckets;

  /** `sets`: how many sets of four buckets the table has. */
  constructor(answersPerSecond: number, sets?: number, buffer?: SharedArrayBuffer) {
    this.#buckets = new TokenBuckets(answersPerSecond, answersPerSecond, sets, buffer);
  }

  /** The rate limit that uses the table in `buffer`. */
  static on(buffer: SharedArrayBuffer): RateLimit {
    return new RateLimit(TokenBuckets.perSecondOf(buffer), TokenBuckets.setsOf(buffer), buffer);
  }

  /** The table, for `on` in another thread. */
  get buffer(): SharedArrayBuffer {
    return this.#buckets.buffer;
  }

  /**
   * Counts one answer to the client's network (/24 of 4 octets, /56 of 16), about the name with this hash, and a type.
   * `nowMs` is taken modulo 2^32.
   */
  decide({ address, at: from, octets }: Client, nameHash: number, type: number, nowMs: number): RateDecision {
    const buckets = this.#buckets;
    const network = octets === 4 ? 3 : 7;
    let index = buckets.seed ^ octets;
    let key = Math.imul(buckets.seed, 0x9e3779b1) ^ type;
    for (let i = 0; i < network; i++) {
      const octet = address[from + i] as number;
      index = Math.imul(index ^ octet, 0x01000193);
      key = Math.imul(key ^ octet, 0x5bd1e995);
    }
    index = mix(index ^ Math.imul(type, 0x85ebca6b) ^ nameHash);
    key = mix(key ^ Math.imul(nameHash, 0x9e3779b1)) || 1;
    const at = buckets.find(index, key, nowMs, false);
    const tokens = buckets.tokens(at, nowMs);
    if (tokens >= 1) {
      buckets.setTokens(at, tokens - 1, nowMs);
      return 'send';
    }
    buckets.setTokens(at, tokens, nowMs);
    return buckets.alternate(at) ? 'truncate' : 'drop';
  }
}
