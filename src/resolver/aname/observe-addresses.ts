// Looks up the addresses of an ANAME's target at the servers of its own zones, never in a cache, so that TTLs are not
// reduced. Follows aliases, and queries A and AAAA at the end of the chain.

import type { FamilyEvidence, TargetEvidence } from '../../checks/aname/target-evidence.ts';
import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import { foldCase, type Name, printName, ROOT } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askAuthority } from '../walk/ask-authority.ts';
import { isSilence, Journey, silenceOf } from '../walk/walk.ts';

/** Rejects with the signal's reason when that aborts. */
export async function observeAddresses(
  state: ResolverState,
  target: Name,
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<TargetEvidence> {
  const { limits, now } = state.around;
  const startedAt = now();
  return runWork(state, { limits, signal }, async (work) => {
    const search = new Search(state, work, foldCase(target));
    const v4 = await search.find(TYPE.A);
    const v6 = search.isNothing ? v4 : await search.find(TYPE.AAAA);
    return { names: search.names, v4, v6, queries: work.packets, startedAt, finishedAt: now() };
  });
}

/** One observation. It queries the second family at the name where the aliases of the first family ended. */
class Search {
  readonly names: Name[];
  /** True if the reply was NXDOMAIN, which applies to every type. */
  isNothing = false;
  readonly #state: ResolverState;
  readonly #work: Work;
  /** Lowest TTL of all records in the chain. */
  #ttl = Number.POSITIVE_INFINITY;
  #journey: Journey;
  /** Set if the aliases cannot be followed any further. */
  #end: FamilyEvidence | undefined;

  constructor(state: ResolverState, work: Work, target: Name) {
    this.#state = state;
    this.#work = work;
    this.names = [target];
    this.#journey = new Journey(state, state.root);
  }

  async find(type: number): Promise<FamilyEvidence> {
    try {
      for (;;) {
        const found = this.#end ?? (await this.#ask(type));
        if (found !== undefined) return found;
      }
    } catch (error) {
      if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
      return failed(this.#failureOf(error));
    }
  }

  /** Returns undefined if the name is an alias, whose target is queried next. */
  async #ask(type: number): Promise<FamilyEvidence | undefined> {
    const name = this.names.at(-1) as Name;
    if (name === ROOT) return { kind: 'none', ttl: 0 }; // the root has no addresses
    const result = await askAuthority(
      this.#state,
      this.#journey,
      { name, type },
      { work: this.#work, within: undefined },
    );
    if (result.kind === 'failed') return failed(result.failure);
    const { reply, zone } = result;
    switch (reply.kind) {
      case 'answer': {
        const addresses = [...new Set([...reply.rdata].sort(Buffer.compare).map(printAddress))];
        return { kind: 'found', addresses, ttl: this.#lowest(reply.ttl) };
      }
      case 'alias':
        this.#end = this.#follow(reply, zone.zone);
        return undefined;
      case 'nodata':
      case 'nxdomain':
        this.isNothing = reply.kind === 'nxdomain';
        return { kind: 'none', ttl: this.#lowest(reply.ttl) };
      default:
        return reply satisfies never;
    }
  }

  /** Follows an alias. Returns the reason if the search ends there. */
  #follow(
    { target, ttl }: { readonly target: Name | undefined; readonly ttl: number },
    zone: Name,
  ): FamilyEvidence | undefined {
    const name = printName(this.names.at(-1) as Name);
    this.#ttl = this.#lowest(ttl);
    if (target === undefined) {
      return failed({
        zone,
        reason: 'lame',
        message: `a DNAME above ${name} comes without the CNAME that it generates`,
      });
    }
    if (this.names.includes(target)) {
      return failed({
        zone,
        reason: 'loop',
        message: `${name} is an alias that leads back to ${printName(target)}`,
      });
    }
    if (!this.#work.countCname()) {
      return failed({
        zone,
        reason: 'limit',
        message: `${name} exceeds the number of aliases that may be followed`,
      });
    }
    this.names.push(target);
    this.#journey = new Journey(this.#state, this.#state.root);
    return undefined;
  }

  #lowest(ttl: number): number {
    return Math.min(this.#ttl, ttl);
  }

  #failureOf(error: Stopped): WalkFailure {
    const zone = this.#work.reached;
    return isSilence(error, this.#work)
      ? silenceOf(zone, error)
      : { zone, reason: 'limit', message: error.message };
  }
}

function failed({ reason, message }: WalkFailure): FamilyEvidence {
  return { kind: 'failed', reason, message };
}
