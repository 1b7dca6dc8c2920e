// The resolver: observes delegations from the root down, for as many domains at once as are asked for, and remembers the
// way. Root priming (RFC 8109) is left out: the hints are asked as they are, and prefetching is not needed.

import type { Evidence } from '../checks/evidence.ts';
import type { Name } from '../dns/name.ts';
import type { Network } from './address-rules.ts';
import type { Exchange } from './exchange.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { observeDelegation } from './observe-delegation.ts';
import { type PacketCounts, ResolverState } from './resolver-state.ts';
import type { RootServer } from './root-hints.ts';

/** What this fleet holds of the deepest zone above a domain that it serves. Names are folded. */
export interface HeldZone {
  readonly zone: Name;
  /** The topmost cut between the zone and the domain, perhaps the domain itself. */
  readonly cut: Name | undefined;
  /** Of the cut. */
  readonly ns: readonly Name[];
  readonly ds: readonly Uint8Array[];
  readonly glue: readonly { readonly name: Name; readonly address: string }[];
  readonly ttl: number;
  /** Without a cut: the domain's name exists in the zone, or is an alias there. */
  readonly exists: boolean;
  readonly alias: boolean;
}

export interface ObserveOptions {
  readonly held?: HeldZone | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Resolver {
  /** Rejects with the signal's reason when that aborts, and when the resolver is closed. */
  observeDelegation(domain: Name, options?: ObserveOptions): Promise<Evidence>;
  /** Since the start. */
  packets(): Readonly<PacketCounts>;
  /** Closes the exchange as well. */
  close(): Promise<void>;
}

export interface ResolverOptions {
  readonly exchange: Exchange;
  readonly rootServers: readonly RootServer[];
  /** Networks that may be asked although they are not public. */
  readonly allowed: readonly Network[];
  readonly rates: { take(address: string, signal: AbortSignal): Promise<void> };
  readonly hasIpv6: () => boolean;
  readonly now?: () => number;
  /** From 0 up to 1. */
  readonly random?: () => number;
  readonly limits?: Partial<Limits>;
  /** Of each of the two caches: names with their delegations, hosts with their addresses. */
  readonly cacheEntries?: number;
}

const DEFAULT_CACHE_ENTRIES = 20_000;

export function createResolver(options: ResolverOptions): Resolver {
  const state = new ResolverState({
    ...options,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    cacheEntries: options.cacheEntries ?? DEFAULT_CACHE_ENTRIES,
  });
  let isClosed = false;
  return {
    async observeDelegation(domain, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeDelegation(state, domain, observed);
    },
    packets: () => ({ ...state.packets }),
    async close() {
      isClosed = true;
      for (const work of [...state.running]) work.abort();
      await options.exchange.close();
    },
  };
}
