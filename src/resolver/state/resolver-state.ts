// State shared by all checks of one resolver: the network, the caches, and the counters.

import { type Name, ROOT } from '../../dns/name.ts';
import type { Network } from '../../dns/record/network.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { AddressCache, type DatedOutcome } from './address-cache.ts';
import type { AddressGate } from './address-gate.ts';
import { isAskable } from './address-rules.ts';
import { KnownZone, type ZoneServers } from './known-zone.ts';
import type { Limits } from './limits.ts';
import type { PublicResolvers } from './public-resolvers.ts';
import type { RootServer } from './root-hints.ts';
import { type SharedTask, SharedTasks } from './shared-tasks.ts';
import type { Silences } from './silences.ts';
import { TrustCache } from './trust-cache.ts';
import type { Work } from './work.ts';
import { ZoneCache } from './zone-cache.ts';

/**
 * Finds the addresses of a nameserver's name with a separate walk. Injected, because that walk may meet servers without
 * addresses and start another one. Throws Stopped.
 */
type FindAddresses = (
  state: ResolverState,
  host: Name,
  options: { readonly work: Work; readonly within: SharedTask | undefined },
) => Promise<DatedOutcome>;

export interface Surroundings {
  readonly findAddresses: FindAddresses;
  readonly exchange: Exchange;
  readonly rootServers: readonly RootServer[];
  readonly allowed: readonly Network[];
  /** Waits until a query may be sent to an address. */
  readonly rates: { take(address: string, signal: AbortSignal): Promise<void> };
  /** Decides whether an address may be queried at all. Absent: every address may be. */
  readonly gate?: Pick<AddressGate, 'enter'>;
  /** The silent parents. */
  readonly silences?: Pick<Silences, 'isSilent' | 'noteSilence' | 'noteReply'>;
  readonly hasIpv6: () => boolean;
  readonly publicResolvers?: PublicResolvers;
  readonly now: () => number;
  readonly random: () => number;
  readonly limits: Limits;
  readonly cacheEntries: number;
  /** How long a failure to find a zone or an address is remembered at most. */
  readonly failureMaxMs?: number;
  /** Rdata of DS records of the root. Absent or empty: nothing is validated. */
  readonly trustAnchors?: () => readonly Uint8Array[];
  /** Called at most once per minute if the root's keys do not validate with the anchors. */
  readonly onRootFault?: (message: string) => void;
}

/** Packets since the start. `bad`: an unreadable reply or a failed connection. */
export interface PacketCounts {
  sent: number;
  replies: number;
  timeouts: number;
  bad: number;
  /** Queries that were not sent because the address has been silent. */
  barred: number;
}

/** A busy process ticks late. That time does not count as waiting. */
const TICK_MS = 100;

export class ResolverState {
  readonly around: Surroundings;
  readonly zones: ZoneCache;
  readonly addresses: AddressCache;
  readonly trust: TrustCache;
  readonly sharedTasks = new SharedTasks();
  readonly packets: PacketCounts;
  /** Round-robin index of the next public resolver. */
  resolverTurn = 0;
  /** The checks that are running now. */
  readonly running: Set<Work>;
  /**
   * The root from the unchanged hints, permanently: its servers are queried only for delegations, which all of them know.
   */
  readonly root: KnownZone;
  readonly #isAskable: (address: string) => boolean;
  readonly #known: ResolverState | undefined;
  #ticking: NodeJS.Timeout | undefined;

  /**
   * `packets`: another state's counters, if both are counted together. `known`: the state whose knowledge this one shares,
   * except for its failures so far.
   */
  constructor(
    around: Surroundings,
    packets: PacketCounts = { sent: 0, replies: 0, timeouts: 0, bad: 0, barred: 0 },
    known?: ResolverState,
  ) {
    const { cacheEntries, now, failureMaxMs } = around;
    this.around = around;
    this.packets = packets;
    this.#known = known;
    this.running = known?.running ?? new Set();
    this.zones = new ZoneCache(cacheEntries, now, failureMaxMs, known?.zones);
    this.addresses = new AddressCache(cacheEntries, now, failureMaxMs, known?.addresses);
    this.trust = known?.trust ?? new TrustCache(cacheEntries, now, failureMaxMs);
    this.#isAskable = (address) => isAskable(address, around.allowed);
    this.root = this.knownZone(ROOT, {
      names: around.rootServers.map(({ name }) => name),
      glue: around.rootServers.flatMap(({ name, addresses }) =>
        addresses.map((address) => ({ name, address })),
      ),
    });
  }

  /** Returns the same state without earlier failures, for a user who may have just repaired the cause. */
  withoutFailures(): ResolverState {
    return new ResolverState(this.around, this.packets, this);
  }

  begin(work: Work): void {
    // Use one clock for all running checks.
    if (this.#known !== undefined) {
      this.#known.begin(work);
      return;
    }
    this.running.add(work);
    this.#ticking ??= setInterval(() => {
      for (const each of this.running) each.tick(TICK_MS);
    }, TICK_MS);
  }

  end(work: Work): void {
    if (this.#known !== undefined) {
      this.#known.end(work);
      return;
    }
    this.running.delete(work);
    if (this.running.size > 0) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  knownZone(zone: Name, servers: ZoneServers): KnownZone {
    const { limits, now } = this.around;
    const { namesPerZone, addressesPerName } = limits;
    const isAskable = this.#isAskable;
    return new KnownZone(zone, servers, { isAskable, namesPerZone, addressesPerName, now: now() });
  }
}
