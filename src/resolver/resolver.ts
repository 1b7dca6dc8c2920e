// The resolver: observes delegations from the root down, for many domains concurrently, and caches what it learns. Root
// priming (RFC 8109) is omitted: the hints are used unchanged. Prefetching is not needed.

import type { TargetEvidence } from '../checks/aname/target-evidence.ts';
import type { CaaEvidence } from '../checks/caa/judge-caa.ts';
import type { ChildEvidence } from '../checks/child/evidence.ts';
import type { Evidence } from '../checks/delegation/evidence.ts';
import type { DsEvidence } from '../checks/dnssec/ds-evidence.ts';
import type { PreflightEvidence } from '../checks/dnssec/preflight.ts';
import type { TheirEvidence } from '../checks/dnssec/their-keys.ts';
import type { PoolEvidence } from '../checks/nameservers/pool-evidence.ts';
import type { Scan } from '../checks/scan/scan.ts';
import type { TxtEvidence } from '../checks/txt/txt-evidence.ts';
import type { RootKeys } from '../checks/validation/root-keys.ts';
import type { Name } from '../dns/name.ts';
import type { Network } from '../dns/record/network.ts';
import { findAllAddresses } from './aname/find-all-addresses.ts';
import { observeAddresses } from './aname/observe-addresses.ts';
import { observeCaa } from './caa/observe-caa.ts';
import { type ChildOptions, observeChild } from './child/observe-child.ts';
import { OwnProbes } from './child/own-probes.ts';
import { type ObserveOptions, observeDelegation, type Seen } from './delegation/observe-delegation.ts';
import { observeDs } from './dnssec/observe-ds.ts';
import { observeSigned, type SignedOptions } from './dnssec/observe-signed.ts';
import { observeTheirKeys, type TheirOptions } from './dnssec/observe-their-keys.ts';
import type { Exchange } from './exchange/exchange.ts';
import { type ObservedPool, observePool } from './nameservers/observe-pool.ts';
import type { ScanOptions } from './scan/scan-zone.ts';
import { DEFAULT_LIMITS, type Limits } from './state/limits.ts';
import type { PublicResolvers } from './state/public-resolvers.ts';
import { type PacketCounts, ResolverState, type Surroundings } from './state/resolver-state.ts';
import type { RootServer } from './state/root-hints.ts';
import { observeTxt } from './txt/observe-txt.ts';
import { observeRootKeys } from './validation/observe-root-keys.ts';
import { findAddresses } from './walk/find-addresses.ts';

export type { ObserveOptions, Seen };

export interface Resolver {
  /** Rejects with the signal's reason when that aborts, and when the resolver is closed. */
  observeDelegation(domain: Name, options?: ObserveOptions): Promise<Evidence>;
  /**
   * Observes the answers of the servers of the challenge's zone and of public resolvers. `host` is the name of the TXT
   * record. `fresh`: a user waits, so earlier failures are retried. Rejects like `observeDelegation`.
   */
  observeTxt(host: Name, options?: Pick<ObserveOptions, 'signal' | 'fresh'>): Promise<TxtEvidence>;
  /** Observes the domain's DS set at every server of the parent, without a cache. Rejects like `observeDelegation`. */
  observeDs(domain: Name, options?: { readonly signal?: AbortSignal | undefined }): Promise<DsEvidence>;
  /**
   * Observes if the domain would validate with one of our keys, given its nameservers' answers. Rejects like
   * `observeDelegation`.
   */
  observeSigned(domain: Name, options: SignedOptions): Promise<PreflightEvidence>;
  /** Observes the keys that another operator's nameservers show for a domain. Rejects like `observeDelegation`. */
  observeTheirKeys(domain: Name, options: TheirOptions): Promise<TheirEvidence>;
  /** Observes the delegated zone at its own nameservers. Rejects like `observeDelegation`. */
  observeChild(domain: Name, options?: ChildOptions): Promise<ChildEvidence>;
  /** Observes the addresses of a name at the servers of its zones. Rejects like `observeDelegation`. */
  observeAddresses(
    target: Name,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<TargetEvidence>;
  /** Looks up the CAA records that apply to a name. Rejects like `observeDelegation`. */
  observeCaa(name: Name, options?: { readonly signal?: AbortSignal | undefined }): Promise<CaaEvidence>;
  /** Returns the addresses of all these names, or undefined if those of one are not found. Rejects like `observeDelegation`. */
  findAllAddresses(
    names: Iterable<Name>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ReadonlySet<string> | undefined>;
  /**
   * Finds the records that a zone appears to have, from a list of names and the names in those records. Rejects like
   * `observeDelegation`.
   */
  scanZone(domain: Name, options?: ScanOptions): Promise<Scan>;
  /** Observes our own nameservers from outside. Rejects like `observeDelegation`. */
  observePool(
    pool: ObservedPool,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<PoolEvidence>;
  /**
   * Returns the keys in the root's DNSKEY set for trust anchor rollovers, or undefined if no server returned it. Rejects
   * like `observeDelegation`.
   */
  observeRootKeys(options?: { readonly signal?: AbortSignal | undefined }): Promise<RootKeys | undefined>;
  /** True if the root's keys did not validate when they were last queried. */
  hasRootFault(): boolean;
  /** Returns the packets counted since the start. */
  packets(): Readonly<PacketCounts>;
  /** Also closes the exchange. */
  close(): Promise<void>;
}

interface ResolverOptions {
  readonly exchange: Exchange;
  readonly rootServers: readonly RootServer[];
  /** Networks that may be queried although their addresses are not public. */
  readonly allowed: readonly Network[];
  readonly rates: { take(address: string, signal: AbortSignal): Promise<void> };
  readonly gate?: NonNullable<Surroundings['gate']>;
  readonly silences?: NonNullable<Surroundings['silences']>;
  readonly hasIpv6: () => boolean;
  readonly publicResolvers?: PublicResolvers;
  readonly now?: () => number;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
  readonly limits?: Partial<Limits>;
  /** Rdata of DS records of the root. Absent or empty: nothing is validated. */
  readonly trustAnchors?: () => readonly Uint8Array[];
  /** Called at most once per minute if the root's keys do not validate with the anchors. */
  readonly onRootFault?: (message: string) => void;
  /** Capacity of each of the two caches: names with their delegations, and hosts with their addresses. */
  readonly cacheEntries?: number;
}

const DEFAULT_CACHE_ENTRIES = 20_000;
/**
 * ANAME targets have their own caches, in which a failure expires before the next lookup: a recovered target is published
 * within a minute. Delegations are checked by the million, and a failing registry would delay all of them, so their
 * failures last longer.
 */
const TARGET_FAILURE_MAX_MS = 30_000;

export function createResolver(options: ResolverOptions): Resolver {
  const state = new ResolverState({
    ...options,
    findAddresses,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    cacheEntries: options.cacheEntries ?? DEFAULT_CACHE_ENTRIES,
  });
  const targets = new ResolverState({ ...state.around, failureMaxMs: TARGET_FAILURE_MAX_MS }, state.packets);
  const ownProbes = new OwnProbes(state.around.now);
  let isClosed = false;
  return {
    async observeDelegation(domain, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeDelegation(state, domain, observed);
    },
    async observeTxt(host, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeTxt(observed.fresh === true ? state.withoutFailures() : state, host, observed);
    },
    async observeDs(domain, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeDs(state, domain, observed);
    },
    async observeSigned(domain, observed) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeSigned(state, domain, observed);
    },
    async observeTheirKeys(domain, observed) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeTheirKeys(state, domain, observed);
    },
    async observeChild(domain, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeChild(state, ownProbes, domain, observed);
    },
    async observeAddresses(target, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeAddresses(targets, target, observed);
    },
    async observeCaa(name, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeCaa(state, name, observed);
    },
    async findAllAddresses(names, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return findAllAddresses(names, (name) => observeAddresses(targets, name, observed));
    },
    async scanZone(domain, scanned = {}) {
      const { scanZone } = await import('./scan/scan-zone.ts'); // its lists of names are large
      if (isClosed) throw new Error('the resolver is closed');
      return scanZone(state, domain, scanned);
    },
    async observePool(pool, observed = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observePool(targets, pool, observed);
    },
    async observeRootKeys({ signal } = {}) {
      if (isClosed) throw new Error('the resolver is closed');
      return observeRootKeys(state, signal);
    },
    hasRootFault: () => state.trust.hasRootFault(),
    packets: () => ({ ...state.packets }),
    async close() {
      isClosed = true;
      for (const work of [...state.running, ...targets.running]) work.abort();
      await Promise.all([options.exchange.close(), options.publicResolvers?.exchange.close()]);
    },
  };
}
