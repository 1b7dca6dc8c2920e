// What all checks of one resolver share: the way to the network, what is remembered, what is counted.

import { type Name, ROOT } from '../dns/name.ts';
import { AddressCache } from './address-cache.ts';
import { isAskable, type Network } from './address-rules.ts';
import { Errands } from './errands.ts';
import type { Exchange } from './exchange.ts';
import { KnownZone, type ZoneServers } from './known-zone.ts';
import type { Limits } from './limits.ts';
import type { PublicResolvers } from './resolver.ts';
import type { RootServer } from './root-hints.ts';
import type { Work } from './work.ts';
import { ZoneCache } from './zone-cache.ts';

export interface Surroundings {
  readonly exchange: Exchange;
  readonly rootServers: readonly RootServer[];
  readonly allowed: readonly Network[];
  /** Before a question to an address. */
  readonly rates: { take(address: string, signal: AbortSignal): Promise<void> };
  readonly hasIpv6: () => boolean;
  readonly publicResolvers?: PublicResolvers;
  readonly now: () => number;
  readonly random: () => number;
  readonly limits: Limits;
  readonly cacheEntries: number;
  /** Failures to find a zone or an address are remembered no longer than this. */
  readonly failureMaxMs?: number;
}

/** Since the start. `bad`: a reply that could not be read, or a connection that failed. */
export interface PacketCounts {
  sent: number;
  replies: number;
  timeouts: number;
  bad: number;
}

export class ResolverState {
  readonly around: Surroundings;
  readonly zones: ZoneCache;
  readonly addresses: AddressCache;
  readonly errands = new Errands();
  readonly packets: PacketCounts;
  /** Whose turn it is among the public resolvers. */
  resolverTurn = 0;
  /** The checks that go on now. */
  readonly running = new Set<Work>();
  /** From the hints as they are, for good: they are asked for delegations only, and all of them know those. */
  readonly root: KnownZone;
  readonly #isAskable: (address: string) => boolean;

  /** `packets`: where another state's are counted too. */
  constructor(around: Surroundings, packets: PacketCounts = { sent: 0, replies: 0, timeouts: 0, bad: 0 }) {
    this.around = around;
    this.packets = packets;
    this.zones = new ZoneCache(around.cacheEntries, around.now, around.failureMaxMs);
    this.addresses = new AddressCache(around.cacheEntries, around.now, around.failureMaxMs);
    this.#isAskable = (address) => isAskable(address, around.allowed);
    this.root = this.knownZone(ROOT, {
      names: around.rootServers.map(({ name }) => name),
      glue: around.rootServers.flatMap(({ name, addresses }) =>
        addresses.map((address) => ({ name, address })),
      ),
    });
  }

  knownZone(zone: Name, servers: ZoneServers): KnownZone {
    const { limits, now } = this.around;
    const { namesPerZone, addressesPerName } = limits;
    const isAskable = this.#isAskable;
    return new KnownZone(zone, servers, { isAskable, namesPerZone, addressesPerName, now: now() });
  }
}
