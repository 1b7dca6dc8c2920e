// Looks up the nameservers of a zone that have no known address, one by one, for one query. Only a few are tried, because a
// referral may name many servers in other zones (NXNS).

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import { type Name, printName } from '../../dns/name.ts';
import type { KnownZone } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { SharedTask } from '../state/shared-tasks.ts';
import type { Work } from '../state/work.ts';

/** How long an address can be used by the check that looked it up, even with a TTL of 0. */
export const MIN_USE_MS = 15_000;

export class Lookups {
  readonly #state: ResolverState;
  readonly #zone: KnownZone;
  readonly #options: { work: Work; within: SharedTask | undefined };
  readonly #tried = new Set<Name>();
  readonly #reasons = new Set<WalkFailure['reason']>();
  /** Number of lookups that sent packets. */
  #performed = 0;

  constructor(
    state: ResolverState,
    zone: KnownZone,
    options: { work: Work; within: SharedTask | undefined },
  ) {
    this.#state = state;
    this.#zone = zone;
    this.#options = options;
  }

  /** Returns how many may still be tried. */
  left(): number {
    return Math.min(
      this.#candidates().length,
      this.#options.work.limits.lookupsPerQuestion - this.#performed,
    );
  }

  /** Tries one nameserver, a cached one first. Throws Stopped. */
  async next(): Promise<void> {
    const { addresses, around } = this.#state;
    const candidates = this.#candidates();
    const remembered = candidates.find((name) => addresses.get(name, around.hasIpv6()) !== undefined);
    const name = remembered ?? candidates[Math.floor(around.random() * candidates.length)];
    if (name === undefined) return;
    this.#tried.add(name);
    if (remembered === undefined) this.#performed++;
    const { outcome, until } = await around.findAddresses(this.#state, name, this.#options);
    if (outcome.kind === 'failed') this.#reasons.add(outcome.reason);
    const now = around.now();
    this.#zone.resolve(name, outcome, outcome.kind === 'failed' ? until : Math.max(until, now + MIN_USE_MS));
  }

  /** Returns why there is no address to query. */
  failure(): WalkFailure {
    const { zone } = this.#zone;
    const text = printName(zone);
    if (this.#reasons.has('limit')) {
      return {
        zone,
        reason: 'limit',
        message: `finding an address of a server of ${text} takes too many steps`,
      };
    }
    const hasOthers = this.#zone.addresses(this.#state.around.now(), true).length > 0; // IPv6 addresses, but this machine has no IPv6
    if (this.#reasons.has('loop') && !hasOthers) {
      return {
        zone,
        reason: 'loop',
        message: `the servers of ${text} can only be found by querying these servers`,
      };
    }
    return { zone, reason: 'no_address', message: `no server of ${text} has an address that may be queried` };
  }

  #candidates(): Name[] {
    const { now, hasIpv6 } = this.#state.around;
    return this.#zone.unresolved(now(), hasIpv6()).filter((name) => !this.#tried.has(name));
  }
}
