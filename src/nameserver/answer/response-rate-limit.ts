// Response rate limiting: bounds the number of equal UDP answers per second to one network, so that spoofing a source
// address is not worthwhile. Under a flood of networks or names, quiet buckets are reused first.

import type { Client } from './client.ts';
import { mix, TokenBuckets } from './token-buckets.ts';

/** Above the rate, `drop` and `truncate` alternate, so that a real client gets its answer over TCP. */
export type RateDecision = 'send' | 'truncate' | 'drop';

/** Used instead of a type: the NXDOMAIN answers, referrals and errors of a zone share one bucket. */
export const ZONE_BUCKET = 0x10000;
/** Used instead of a type: all NODATA answers for a name share one bucket. */
export const NODATA_BUCKET = 0x10001;

export class RateLimit {
  readonly #buckets: TokenBuckets;

  /** @param sets number of four-way sets in the table */
  constructor(answersPerSecond: number, sets?: number, buffer?: SharedArrayBuffer) {
    this.#buckets = new TokenBuckets(answersPerSecond, answersPerSecond, sets, buffer);
  }

  /** Returns a rate limit that uses the table in `buffer`. */
  static on(buffer: SharedArrayBuffer): RateLimit {
    return new RateLimit(TokenBuckets.perSecondOf(buffer), TokenBuckets.setsOf(buffer), buffer);
  }

  /** The table, for `on` in another thread. */
  get buffer(): SharedArrayBuffer {
    return this.#buckets.buffer;
  }

  /**
   * Counts one answer of a type about the name with this hash, for the client's network (/24 for IPv4, /56 for IPv6).
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
