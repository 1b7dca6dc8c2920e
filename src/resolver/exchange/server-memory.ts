// Remembers for each server address if it answers the ordinary way, or what it needs instead. The number of addresses is
// limited and every entry expires: an attacker can choose addresses, and lost packets look like a server that drops
// queries.

import { ExpiringCache } from '../cache/expiring-cache.ts';
import { betterThan, isSameWay, type Known, ORDINARY, type Way } from './ways.ts';

interface Needs {
  /** The way in which the server last replied. */
  readonly way: Way;
  readonly better: readonly Way[];
  /** Number of consecutive queries that it did not answer the ordinary way. */
  readonly count: number;
  /** When the ordinary way is tried first again, in milliseconds since 1970. */
  readonly until: number;
}

const CAPACITY = 20_000;
const ORDINARY_MS = 3_600_000;
/** Short at first, because the cause may be a lossy network. */
const NEEDS_FIRST_MS = 600_000;
const NEEDS_MAX_MS = 6 * 3_600_000;
/** How long doubtful needs are kept. The server then gets two queries instead of four. */
const DOUBTFUL_MS = 86_400_000;

const UNKNOWN: Known = { kind: 'unknown' };
const IS_ORDINARY: Known = { kind: 'ordinary' };

export class ServerMemory {
  readonly #now: () => number;
  readonly #ordinary = new ExpiringCache<true>(CAPACITY);
  readonly #needs = new ExpiringCache<Needs>(CAPACITY);

  constructor(now: () => number) {
    this.#now = now;
  }

  knownOf(address: string): Known {
    const now = this.#now();
    if (this.#ordinary.get(address, now) !== undefined) return IS_ORDINARY;
    const needs = this.#needs.get(address, now);
    if (needs === undefined) return UNKNOWN;
    const { way, better, until } = needs;
    const again = way.transport === 'udp' ? [way, way] : [way]; // a UDP packet may be lost
    return {
      kind: 'needs',
      ways: until > now ? [...better.slice(0, 1), ...again, ORDINARY] : [ORDINARY, ...again],
    };
  }

  /** Records that the server answers mixed case, EDNS and UDP. */
  setOrdinary(address: string): void {
    this.#needs.delete(address);
    this.#ordinary.set(address, true, this.#now() + ORDINARY_MS);
  }

  /**
   * Records that the server replied in another way. A server known to be ordinary keeps this state until it expires: an
   * attacker may have dropped its packets.
   */
  setNeeds(address: string, way: Way): void {
    const now = this.#now();
    if (this.#ordinary.get(address, now) !== undefined) return;
    const before = this.#needs.get(address, now);
    const isSettled = before !== undefined && before.until > now;
    const count = (before?.count ?? 0) + (isSettled ? 0 : 1);
    const until = isSettled
      ? before.until
      : now + Math.min(NEEDS_MAX_MS, NEEDS_FIRST_MS * 2 ** Math.min(count - 1, 10));
    const isSame = before !== undefined && isSameWay(way, before.way);
    const better = isSame ? before.better.slice(isSettled ? 1 : 0) : isSettled ? [] : betterThan(way);
    this.#needs.set(address, { way, better, count, until }, until + DOUBTFUL_MS);
  }

  /** Records that the server did not reply in any way. */
  forgetNeeds(address: string): void {
    this.#needs.delete(address);
  }
}
