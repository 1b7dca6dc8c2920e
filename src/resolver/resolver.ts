// The resolver: observes delegations from the root down, for as many domains at once as are asked for, and remembers the
// way. Root priming (RFC 8109) is left out: the hints are asked as they are, and prefetching is not needed.

import type { Evidence } from '../checks/evidence.ts';
import type { Scan } from '../checks/scan.ts';
import type { TargetEvidence } from '../checks/target-evidence.ts';
import type { TxtEvidence } from '../checks/txt-evidence.ts';
import type { Name } from '../dns/name.ts';
import type { Network } from './address-rules.ts';
import type { Exchange } from './exchange.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { observeAddresses } from './observe-addresses.ts';
import { observeDelegation } from './observe-delegation.ts';
import { observeTxt } from './observe-txt.ts';
import { type PacketCounts, ResolverState } from './resolver-state.ts';
import type { RootServer } from './root-hints.ts';
import { type ScanOptions, scanZone } from './scan-zone.ts';

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

/** Resolvers of others, asked with RD=1. */
export interface PublicResolvers {
  /** Made with `recursive`, and a `route` from these addresses. */
  readonly exchange: Exchange;
  /** As `exchange` is asked for them: `address`, or with a port other than 53 `address#port`. */
  readonly addresses: readonly string[];
  readonly rates: { take(address: string, signal: AbortSignal): Promise<void> };
}

export interface ObserveOptions {
  readonly held?: HeldZone | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Resolver {
  /** Rejects with the signal's reason when that aborts, and when the resolver is closed. */
  observeDelegation(domain: Name, options?: ObserveOptions): Promise<Evidence>;
  /** What the servers of the challenge's zone say, and others: `host` is the name of the TXT record. As `observeDelegation`. */
  observeTxt(host: Name, options?: { readonly signal?: AbortSignal | undefined }): Promise<TxtEvidence>;
  /** The addresses that a name leads to, from the servers of its zones. As `observeDelegation`. */
  observeAddresses(
    target: Name,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<TargetEvidence>;
  /** Which records a zone seems to have: all that a list of names and what they lead to reveals. As `observeDelegation`. */
  scanZone(domain: Name, options?: ScanOptions): Promise<Scan>;
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
  readonly publicResolvers?: PublicResolvers;
  readonly now?: () => number;
  /** From 0 up to 1. */
  readonly random?: () => number;
  readonly limits?: Partial<Limits>;
  /** Of each of the two caches: names with their delegations, hosts with their addresses. */
  readonly cacheEntries?: number;
}

const DEFAULT_CACHE_ENTRIES = 20_000;
/**
 * The targets of ANAME records have a memory of their own, in which a failure lasts no longer than until the next look-up: what
 * comes back is published within a minute. Delegations are asked for by millions, and a dead registry would hold them up.
 */
const TARGET_FAILURE_MAX_MS = 30_000;

export function createResolver(options: ResolverOptions): Resolver {
  const state = new ResolverState({
    ...options,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    cacheEntries: options.cacheEntries ?? DEFAULT_CACHE_ENTRIES,
  });
  const targets = new ResolverState({ ...state.around, failureMaxMs: TARGET_FAILURE_MAX_MS }, state.packets);
  let isClosed = false;
  return {
    async observeDelegation(domain, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeDelegation(state, domain, observed);
    },
    async observeTxt(host, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeTxt(state, host, observed);
    },
    async observeAddresses(target, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeAddresses(targets, target, observed);
    },
    async scanZone(domain, scanned = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return scanZone(state, domain, scanned);
    },
    packets: () => ({ ...state.packets }),
    async close() {
      isClosed = true;
      for (const work of [...state.running, ...targets.running]) work.abort();
      await Promise.all([options.exchange.close(), options.publicResolvers?.exchange.close()]);
    },
  };
}
