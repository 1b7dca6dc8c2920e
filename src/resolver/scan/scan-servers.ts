// Sends a scan's queries to the servers of a zone, spread over all their addresses and limited per address. If an address
// is silent, another one is queried. If all are silent, public resolvers are queried.
//
//   a slot at the address with the fewest queries ──> reply ──> more at a time there
//                                                 └──> silence ──> half as many there, and another address, 3 in all
//   no address left ──> a public resolver, or another one ──> unanswered

import type { Name } from '../../dns/name.ts';
import {
  isExcessive,
  readScanReply,
  readScanReplyOfResolver,
  type ScanReply,
} from '../replies/read-scan-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askResolver, nextResolver } from '../walk/ask-resolver.ts';
import { askServer, isUseful } from '../walk/ask-server.ts';
import { findAddresses } from '../walk/find-addresses.ts';

const ADDRESSES_PER_QUESTION = 3;
const RESOLVERS_PER_QUESTION = 2;
/** Initial number of open queries per address, because many servers drop bursts. */
const FIRST_WINDOW = 8;
const MAX_WINDOW = 24;
/**
 * Number of consecutive misses after which an address is not queried again: for one that never answered, and for one that
 * did.
 */
const MAX_MISSES = 3;
const MAX_SILENCES = 4;
/** Addresses are used for the whole scan once they are looked up. */
const MIN_USE_MS = 120_000;

interface Seat {
  readonly to: ZoneAddress;
  window: number;
  inFlight: number;
  asked: number;
  misses: number;
  hasAnswered: boolean;
  /** Queries that were open when the address fell silent count as one miss, because they were dropped together. */
  silences: number;
}

export class ScanServers {
  /** Number of usable replies, and how many of them came from a public resolver. */
  answers = 0;
  fromResolvers = 0;
  unanswered = 0;
  /** Number of answers that exceeded the record limit. */
  excessive = 0;
  readonly #state: ResolverState;
  readonly #work: Work;
  readonly #zone: KnownZone | undefined;
  readonly #seats = new Map<string, Seat>();
  readonly #waiting = new Set<() => void>();
  #lookups = 0;
  readonly #lookedUp: Promise<void>[] = [];

  /** Without a zone, only public resolvers are queried. */
  constructor(state: ResolverState, work: Work, zone: KnownZone | undefined) {
    this.#state = state;
    this.#work = work;
    this.#zone = zone;
    if (zone === undefined) return;
    const { now, hasIpv6 } = state.around;
    for (const name of zone.unresolved(now(), hasIpv6())) {
      const lookedUp = this.#lookUp(zone, name);
      lookedUp.catch(() => {}); // `settle` reports the error
      this.#lookedUp.push(lookedUp);
    }
  }

  /** True if none of the zone's own servers answers. */
  get areSilent(): boolean {
    return this.fromResolvers > 0 && ![...this.#seats.values()].some((seat) => !isGivenUp(seat));
  }

  /** Resolves when lookups of nameservers have ended. Call it after the work has ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#lookedUp);
  }

  /** Throws Stopped. The name is folded and inside the zone. */
  async ask(name: Name, type: number): Promise<ScanReply> {
    const reply = (await this.#askZone(name, type)) ?? (await this.#askResolvers(name, type));
    if (reply === undefined) this.unanswered++;
    else this.answers++;
    if (reply?.kind === 'excessive') this.excessive++;
    return reply ?? { kind: 'unanswered' };
  }

  async #askZone(name: Name, type: number): Promise<ScanReply | undefined> {
    const zone = this.#zone;
    if (zone === undefined) return undefined;
    const tried = new Set<string>();
    while (tried.size < ADDRESSES_PER_QUESTION) {
      const seat = await this.#sit(zone, tried);
      if (seat === undefined) return undefined;
      tried.add(seat.to.address);
      const { silences } = seat;
      try {
        const { reply, message } = await askServer(this.#state, this.#work, zone, seat.to, { name, type });
        if (isUseful(reply) && message !== undefined) {
          noteAnswer(seat);
          return readScanReply(name, reply, message);
        }
        if (message !== undefined && isExcessive(message, { name, type })) {
          noteAnswer(seat);
          return { kind: 'excessive' };
        }
        if (!seat.hasAnswered || silences === seat.silences) noteNothing(seat);
      } finally {
        seat.inFlight--;
        this.#wake();
      }
    }
    return undefined;
  }

  async #askResolvers(name: Name, type: number): Promise<ScanReply | undefined> {
    for (let i = 0; i < RESOLVERS_PER_QUESTION; i++) {
      const resolver = nextResolver(this.#state);
      if (resolver === undefined) return undefined;
      const answer = await askResolver(this.#state, this.#work, resolver, { name, type });
      const reply = readScanReplyOfResolver(name, answer);
      if (reply.kind === 'unanswered') continue;
      this.fromResolvers++;
      return reply;
    }
    return undefined;
  }

  /** Takes a slot at the address with the fewest queries so far. Returns undefined if there is no server left. */
  async #sit(zone: KnownZone, tried: ReadonlySet<string>): Promise<Seat | undefined> {
    for (;;) {
      this.#work.check();
      let best: Seat | undefined;
      let hopes = this.#lookups;
      for (const to of zone.addresses(this.#state.around.now(), this.#state.around.hasIpv6())) {
        const seat = this.#seatAt(to);
        if (tried.has(to.address) || isGivenUp(seat)) continue;
        hopes++;
        if (seat.inFlight >= seat.window) continue;
        if (best === undefined || compareSeats(seat, best) < 0) best = seat;
      }
      if (best !== undefined) {
        best.inFlight++;
        best.asked++;
        return best;
      }
      if (hopes === 0) return undefined;
      let wake: () => void = () => {};
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
        this.#waiting.add(wake);
      });
      await this.#work.race(woken).finally(() => this.#waiting.delete(wake));
    }
  }

  #seatAt(to: ZoneAddress): Seat {
    const known = this.#seats.get(to.address);
    if (known !== undefined) return known;
    const seat = {
      to,
      window: FIRST_WINDOW,
      inFlight: 0,
      asked: 0,
      misses: 0,
      hasAnswered: false,
      silences: 0,
    };
    this.#seats.set(to.address, seat);
    return seat;
  }

  #wake(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }

  /** Looks up the address of one nameserver. No query waits for this while another server is available. */
  async #lookUp(zone: KnownZone, name: Name): Promise<void> {
    this.#lookups++;
    try {
      const { outcome, until } = await findAddresses(this.#state, name, {
        work: this.#work,
        within: undefined,
      });
      const now = this.#state.around.now();
      zone.resolve(name, outcome, outcome.kind === 'failed' ? until : Math.max(until, now + MIN_USE_MS));
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    } finally {
      this.#lookups--;
      this.#wake();
    }
  }
}

function noteAnswer(seat: Seat): void {
  seat.hasAnswered = true;
  seat.misses = 0;
  seat.window = Math.min(MAX_WINDOW, seat.window + 1);
}

function noteNothing(seat: Seat): void {
  seat.misses++;
  seat.silences++;
  seat.window = Math.max(1, seat.window >> 1);
}

function isGivenUp({ misses, hasAnswered }: Seat): boolean {
  return misses >= (hasAnswered ? MAX_SILENCES : MAX_MISSES);
}

function compareSeats(a: Seat, b: Seat): number {
  return Number(a.misses > 0) - Number(b.misses > 0) || a.inFlight - b.inFlight || a.asked - b.asked;
}
