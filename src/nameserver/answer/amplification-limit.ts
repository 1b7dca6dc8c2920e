// How much more than it asked one network may get over UDP, whatever it asks for: many names, types and zones get around a
// limit of equal answers. What is asked pays for what is answered, octet by octet, so only large answers are ever limited:
//
//   tokens ← tokens + 2.5 × octets asked + octetsPerSecond × time, at most the burst
//   an answer takes its octets in tokens; when they do not suffice, an empty answer with TC and silence alternate

import type { Client } from './client.ts';
import type { RateDecision } from './response-rate-limit.ts';
import { mix, TokenBuckets } from './token-buckets.ts';

/**
 * Octets of answer that each octet asked pays for. An answer of up to so many times its question is always sent: an
 * attacker who forges a network's addresses cannot use the limit to keep small answers (most addresses, NODATA,
 * NXDOMAIN) from that network.
 */
const ANSWERED_PER_ASKED = 2.5;
/** How many seconds of its rate a network that was quiet gets at once. */
const BURST_SECONDS = 2;
/** Two answers of the largest size: with a smaller burst, some answers would never be sent. */
const MIN_BURST_OCTETS = 2 * 1232;

const IPV4_KEY = 1 << 24;
const IPV6_KEY = 1 << 31;

export class AmplificationLimit {
  readonly #buckets: TokenBuckets;

  /** `sets`: how many sets of four networks the table has. */
  constructor(octetsPerSecond: number, sets?: number, buffer?: SharedArrayBuffer) {
    const burst = Math.max(MIN_BURST_OCTETS, octetsPerSecond * BURST_SECONDS);
    this.#buckets = new TokenBuckets(octetsPerSecond, burst, sets, buffer);
  }

  /** The limit that uses the table in `buffer`. */
  static on(buffer: SharedArrayBuffer): AmplificationLimit {
    return new AmplificationLimit(TokenBuckets.perSecondOf(buffer), TokenBuckets.setsOf(buffer), buffer);
  }

  /** The table, for `on` in another thread. */
  get buffer(): SharedArrayBuffer {
    return this.#buckets.buffer;
  }

  /** The most that a network gets at once. */
  get burstOctets(): number {
    return this.#buckets.capacity;
  }

  /**
   * Counts a query of `asked` octets and its answer of `answered` to the client's network (/24 of 4 octets, /56 of 16).
   * In place of an answer that is too much goes one of `truncated` octets, or none. `nowMs` is taken modulo 2^32.
   */
  decide(client: Client, asked: number, answered: number, truncated: number, nowMs: number): RateDecision {
    const buckets = this.#buckets;
    const at = this.#find(client, nowMs);
    const tokens = Math.min(buckets.capacity, buckets.tokens(at, nowMs) + asked * ANSWERED_PER_ASKED);
    if (answered <= tokens) {
      buckets.setTokens(at, tokens - answered, nowMs);
      return 'send';
    }
    const truncates = buckets.alternate(at) && truncated <= tokens;
    buckets.setTokens(at, truncates ? tokens - truncated : tokens, nowMs);
    return truncates ? 'truncate' : 'drop';
  }

  /**
   * Networks share a bucket when there are more of them than places: a new one goes on with the tokens of the fullest
   * of its set. So a flood of forged networks can neither empty the table to get a burst again, nor limit other
   * networks, except where all four of a set have been emptied.
   */
  #find({ address, at, octets }: Client, nowMs: number): number {
    const buckets = this.#buckets;
    const { seed, secondSeed } = buckets;
    const first =
      ((address[at] as number) << 16) | ((address[at + 1] as number) << 8) | (address[at + 2] as number);
    if (octets === 4) return buckets.find(mix(mix(first ^ seed) ^ secondSeed), first | IPV4_KEY, nowMs, true);
    const fourth = (first << 8) | (address[at + 3] as number);
    const rest =
      ((address[at + 4] as number) << 16) | ((address[at + 5] as number) << 8) | (address[at + 6] as number);
    const hash = mix(mix(fourth ^ seed) ^ rest ^ secondSeed);
    const key = mix(mix(rest ^ seed) ^ fourth ^ ~secondSeed) | IPV6_KEY;
    return buckets.find(hash, key, nowMs, true);
  }
}
