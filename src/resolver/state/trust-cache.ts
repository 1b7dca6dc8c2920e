// Caches which zones are secure, with their keys, which are insecure, and failed validations. A result is valid only below
// the zone above it: another zone cut between the two makes a different chain.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { ZoneKey } from '../../checks/validation/zone-keys.ts';
import { type Name, ROOT } from '../../dns/name.ts';
import { ExpiringCache } from '../cache/expiring-cache.ts';
import { countFailures, FAILURE_MAX_MS, failureMs, MAX_TTL_MS } from './zone-cache.ts';

export type ZoneTrust =
  | { readonly kind: 'secure'; readonly keys: readonly ZoneKey[] }
  | { readonly kind: 'insecure' }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/** How long a fault of the root is cached. It concerns every check, so it must end soon after its cause. */
const ROOT_FAULT_MS = 60_000;

export class TrustCache {
  readonly #now: () => number;
  readonly #failureMaxMs: number;
  readonly #cache: ExpiringCache<{ trust: ZoneTrust; failures: number }>;

  constructor(capacity: number, now: () => number, failureMaxMs = FAILURE_MAX_MS) {
    this.#cache = new ExpiringCache(capacity);
    this.#now = now;
    this.#failureMaxMs = failureMaxMs;
  }

  /** `above`: the delegating zone. Undefined for the root. */
  get(zone: Name, above: Name | undefined): ZoneTrust | undefined {
    return this.#cache.get(keyOf(zone, above), this.#now())?.trust;
  }

  /** `until`: in milliseconds since 1970. */
  put(zone: Name, above: Name | undefined, trust: ZoneTrust, until: number): ZoneTrust {
    const expiresAt = Math.min(until, this.#now() + MAX_TTL_MS);
    this.#cache.set(keyOf(zone, above), { trust, failures: 0 }, expiresAt);
    return trust;
  }

  putFailure(zone: Name, above: Name | undefined, failure: WalkFailure): ZoneTrust {
    const now = this.#now();
    const last = this.#cache.last(keyOf(zone, above));
    const before =
      last?.value.trust.kind === 'failed'
        ? { count: last.value.failures, expiresAt: last.expiresAt }
        : undefined;
    const failures = countFailures(before, now);
    const forMs = zone === ROOT ? ROOT_FAULT_MS : failureMs(failures, this.#failureMaxMs);
    const trust: ZoneTrust = { kind: 'failed', failure };
    this.#cache.set(keyOf(zone, above), { trust, failures }, now + forMs);
    return trust;
  }

  /** True if the root's keys did not validate when they were last queried. */
  hasRootFault(): boolean {
    return this.#cache.last(keyOf(ROOT, undefined))?.value.trust.kind === 'failed';
  }
}

function keyOf(zone: Name, above: Name | undefined): string {
  return `${zone} ${above ?? ''}`;
}
