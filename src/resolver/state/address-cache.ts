// Caches the looked-up addresses of nameservers, and failed lookups.

import type { Name } from '../../dns/name.ts';
import { ExpiringCache } from '../cache/expiring-cache.ts';
import type { AddressOutcome } from './known-zone.ts';
import { countFailures, FAILURE_MAX_MS, failureMs, MAX_NEGATIVE_TTL_MS, MAX_TTL_MS } from './zone-cache.ts';

/** An outcome and when it expires, in milliseconds since 1970. */
export interface DatedOutcome {
  readonly outcome: AddressOutcome;
  readonly until: number;
}

export class AddressCache {
  readonly #now: () => number;
  readonly #failureMaxMs: number;
  readonly #cache: ExpiringCache<{
    dated: DatedOutcome;
    withIpv6: boolean;
    failures: number;
    number: number;
  }>;
  /** Total number of failures. Each entry has its number. */
  readonly #noted: { failures: number };
  /** Failures up to this number are ignored. */
  readonly #forgiven: number;

  /** `shared`: use the entries of another cache, without its failures so far. */
  constructor(capacity: number, now: () => number, failureMaxMs = FAILURE_MAX_MS, shared?: AddressCache) {
    this.#cache = shared === undefined ? new ExpiringCache(capacity) : shared.#cache;
    this.#now = now;
    this.#failureMaxMs = failureMaxMs;
    this.#noted = shared === undefined ? { failures: 0 } : shared.#noted;
    this.#forgiven = shared === undefined ? 0 : this.#noted.failures;
  }

  /** Ignores an outcome that was looked up without IPv6 once IPv6 is available. */
  get(host: Name, hasIpv6: boolean): DatedOutcome | undefined {
    const entry = this.#cache.get(host, this.#now());
    if (entry === undefined || (hasIpv6 && !entry.withIpv6)) return undefined;
    const isOld = entry.dated.outcome.kind === 'failed' && entry.number <= this.#forgiven;
    return isOld ? undefined : entry.dated;
  }

  put(host: Name, outcome: AddressOutcome, ttlSeconds: number, withIpv6: boolean): DatedOutcome {
    const now = this.#now();
    let failures = 0;
    let forMs = Math.min(outcome.kind === 'found' ? MAX_TTL_MS : MAX_NEGATIVE_TTL_MS, ttlSeconds * 1000);
    if (outcome.kind === 'failed') {
      const last = this.#cache.last(host);
      failures = countFailures(
        last?.value.dated.outcome.kind === 'failed'
          ? { count: last.value.failures, expiresAt: last.expiresAt }
          : undefined,
        now,
      );
      forMs = failureMs(failures, this.#failureMaxMs);
    }
    const dated: DatedOutcome = { outcome, until: now + forMs };
    this.#cache.set(
      host,
      { dated, withIpv6, failures, number: failures > 0 ? ++this.#noted.failures : 0 },
      dated.until,
    );
    return dated;
  }
}
