// Caches the state of names between the root and a domain: a zone cut, no cut, a nonexistent name, or a failed query. It is
// never used for the domain itself.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import { ExpiringCache } from '../cache/expiring-cache.ts';
import type { KnownZone } from './known-zone.ts';

/** State of a name between the root and the domain. */
export type CutState<Z> =
  | { readonly kind: 'cut'; readonly zone: Z }
  /** The name or a name below it exists in the zone above. */
  | { readonly kind: 'none' }
  /** NXDOMAIN: no name below exists either, but some servers wrongly answer this for empty non-terminals (RFC 8020 §2). */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

export type KnownCut = CutState<KnownZone>;

const NO_CUT: KnownCut = { kind: 'none' };
const NOTHING: KnownCut = { kind: 'nothing' };

export const MAX_TTL_MS = 24 * 3_600_000;
export const MAX_NEGATIVE_TTL_MS = 3_600_000;
const FAILURE_FIRST_MS = 1000;
/** Maximum time for which a failure is cached (RFC 9520 §3.2). */
export const FAILURE_MAX_MS = 300_000;

/** Minimum age of a delegation before failing servers cause a new query for it. */
const MIN_AGE_MS = 300_000;

/** Failures within this time of each other are consecutive. */
const FAILURE_MEMORY_MS = 600_000;

/** Returns how long the `count`th consecutive failure, counted from 1, is cached (RFC 9520 §3.2). */
export function failureMs(count: number, maxMs = FAILURE_MAX_MS): number {
  return Math.min(maxMs, FAILURE_FIRST_MS * 2 ** (count - 1));
}

/** Returns the number of consecutive failures including a new one. */
export function countFailures(last: { count: number; expiresAt: number } | undefined, now: number): number {
  return last === undefined || now > last.expiresAt + FAILURE_MEMORY_MS ? 1 : last.count + 1;
}

export class ZoneCache {
  readonly #now: () => number;
  readonly #failureMaxMs: number;
  readonly #cache: ExpiringCache<{ cut: KnownCut; failures: number; number: number; failedAt?: number }>;
  /** Total number of failures. Each entry has its number. */
  readonly #noted: { failures: number };
  /** Failures up to this number are ignored. */
  readonly #forgiven: number;

  /** `shared`: use the entries of another cache, without its failures so far. */
  constructor(capacity: number, now: () => number, failureMaxMs = FAILURE_MAX_MS, shared?: ZoneCache) {
    this.#cache = shared === undefined ? new ExpiringCache(capacity) : shared.#cache;
    this.#now = now;
    this.#failureMaxMs = failureMaxMs;
    this.#noted = shared === undefined ? { failures: 0 } : shared.#noted;
    this.#forgiven = shared === undefined ? 0 : this.#noted.failures;
  }

  get size(): number {
    return this.#cache.size;
  }

  /** `failuresSince`: ignore older failures. */
  get(name: Name, failuresSince?: number): KnownCut | undefined {
    const entry = this.#cache.get(name, this.#now());
    const isForgiven = entry?.cut.kind === 'failed' && entry.number <= this.#forgiven;
    const isOld =
      isForgiven || (failuresSince !== undefined && (entry?.failedAt ?? failuresSince) < failuresSince);
    return isOld ? undefined : entry?.cut;
  }

  putCut(zone: KnownZone, ttlSeconds: number): KnownCut {
    const last = this.#cache.last(zone.zone)?.value.cut;
    if (last?.kind === 'cut') zone.inherit(last.zone);
    return this.#put(zone.zone, { kind: 'cut', zone }, Math.min(MAX_TTL_MS, ttlSeconds * 1000));
  }

  /** `none`: the name or one below it exists, but there is no zone cut. `nothing`: NXDOMAIN. */
  putNegative(name: Name, kind: 'none' | 'nothing', ttlSeconds: number): KnownCut {
    const cut = kind === 'none' ? NO_CUT : NOTHING;
    return this.#put(name, cut, Math.min(MAX_NEGATIVE_TTL_MS, ttlSeconds * 1000));
  }

  /** A name below `name` was answered, so NXDOMAIN for `name` was wrong (RFC 8020). */
  putNothingIsWrong(name: Name): KnownCut {
    return this.#put(name, NO_CUT, MAX_NEGATIVE_TTL_MS);
  }

  putFailure(name: Name, failure: WalkFailure): KnownCut {
    const cut: KnownCut = { kind: 'failed', failure };
    const now = this.#now();
    const last = this.#cache.last(name);
    const failures = countFailures(
      last?.value.cut.kind === 'failed'
        ? { count: last.value.failures, expiresAt: last.expiresAt }
        : undefined,
      now,
    );
    this.#cache.set(
      name,
      { cut, failures, number: ++this.#noted.failures, failedAt: now },
      now + failureMs(failures, this.#failureMaxMs),
    );
    return cut;
  }

  /**
   * Called after all servers of a zone failed, since the zone may have new servers. Returns false if the delegation was
   * queried recently or is not from this cache.
   */
  forgetOld(zone: KnownZone): boolean {
    const cut = this.get(zone.zone);
    if (cut?.kind !== 'cut' || cut.zone !== zone) return false;
    if (this.#now() - zone.knownSince < MIN_AGE_MS) return false;
    this.#cache.delete(zone.zone);
    return true;
  }

  forget(name: Name): void {
    this.#cache.delete(name);
  }

  #put(name: Name, cut: KnownCut, forMs: number): KnownCut {
    this.#cache.set(name, { cut, failures: 0, number: 0 }, this.#now() + forMs);
    return cut;
  }
}
