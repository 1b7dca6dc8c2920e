// Limits the octets that one network receives over UDP in proportion to what it sends. Unlike response rate limiting,
// it also covers answers that differ (many names, types and zones). Each octet of a query pays for octets of the
// answer, so only large answers are ever limited:
//
//   tokens ← min(burst, tokens + 2.5 × octets received + octetsPerSecond × time)
//   an answer costs its octets in tokens; without enough tokens, truncated (TC) answers and dropped ones alternate

import type { Client } from './client.ts';
import type { RateDecision } from './response-rate-limit.ts';
import { TokenBuckets } from './token-buckets.ts';

/**
 * Octets of answer that each octet of a query pays for. Answers up to this ratio are always sent, so an attacker who forges
 * a network's addresses cannot use the limit to withhold small answers (most addresses, NODATA, NXDOMAIN) from that network.
 */
const ANSWERED_PER_ASKED = 2.5;
/** Burst of an idle network, in seconds of its rate. */
const BURST_SECONDS = 2;
/** Two answers of the largest size: with a smaller burst, some answers could never be sent. */
const MIN_BURST_OCTETS = 2 * 1232;

export class AmplificationLimit {
  readonly #buckets: TokenBuckets;

  /** @param sets number of four-way sets in the table */
  constructor(octetsPerSecond: number, sets?: number, buffer?: SharedArrayBuffer) {
    const burst = Math.max(MIN_BURST_OCTETS, octetsPerSecond * BURST_SECONDS);
    this.#buckets = new TokenBuckets(octetsPerSecond, burst, sets, buffer);
  }

  /** Returns a limit that uses the table in `buffer`. */
  static on(buffer: SharedArrayBuffer): AmplificationLimit {
    return new AmplificationLimit(TokenBuckets.perSecondOf(buffer), TokenBuckets.setsOf(buffer), buffer);
  }

  /** The table, for `on` in another thread. */
  get buffer(): SharedArrayBuffer {
    return this.#buckets.buffer;
  }

  /** The largest number of octets that a network can receive in one burst. */
  get burstOctets(): number {
    return this.#buckets.capacity;
  }

  /**
   * Counts a query of `asked` octets and its answer of `answered` octets for the client's network (/24 for IPv4, /56 for
   * IPv6). An answer over the limit is replaced by one of `truncated` octets, or dropped. `nowMs` is taken modulo 2^32.
   */
  decide(client: Client, asked: number, answered: number, truncated: number, nowMs: number): RateDecision {
    const buckets = this.#buckets;
    const at = buckets.findNetwork(client, nowMs);
    const tokens = Math.min(buckets.capacity, buckets.tokens(at, nowMs) + asked * ANSWERED_PER_ASKED);
    if (answered <= tokens) {
      buckets.setTokens(at, tokens - answered, nowMs);
      return 'send';
    }
    const truncates = buckets.alternate(at) && truncated <= tokens;
    buckets.setTokens(at, truncates ? tokens - truncated : tokens, nowMs);
    return truncates ? 'truncate' : 'drop';
  }
}
