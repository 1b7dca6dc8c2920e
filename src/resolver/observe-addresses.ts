// Observes the addresses that an ANAME's target leads to, as the servers of its own zones give them: never a cache's, so
// that TTLs are whole. Aliases are followed; both families are asked for where the last of them ends.

import type { WalkFailure } from '../checks/evidence.ts';
import type { FamilyEvidence, TargetEvidence } from '../checks/target-evidence.ts';
import { foldCase, type Name, printName, ROOT } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';
import { askAuthority } from './ask-authority.ts';
import { addressIn } from './read-reply.ts';
import type { ResolverState } from './resolver-state.ts';
import { runWork } from './run-work.ts';
import { isSilence, Journey, silenceOf } from './walk.ts';
import { Stopped, type Work } from './work.ts';

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

/** The second family is looked for where the first one's aliases ended. */
class Search {
  readonly names: Name[];
  /** NXDOMAIN, which is of every type. */
  isNothing = false;
  readonly #state: ResolverState;
  readonly #work: Work;
  /** The lowest on the way. */
  #ttl = Number.POSITIVE_INFINITY;
  #journey: Journey;
  /** The aliases cannot be followed any further. */
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

  /** Undefined: an alias, and its target is what is to be asked for now. */
  async #ask(type: number): Promise<FamilyEvidence | undefined> {
    const name = this.names.at(-1) as Name;
    if (name === ROOT) return { kind: 'none', ttl: 0 }; // an alias of the root has nothing
    const asked = await askAuthority(
      this.#state,
      this.#journey,
      { name, type },
      { work: this.#work, within: undefined },
    );
    if (asked.kind === 'failed') return failed(asked.failure);
    const { told, zone } = asked;
    switch (told.kind) {
      case 'answer': {
        const addresses = [
          ...new Set([...told.rdata].sort(Buffer.compare).map((one) => addressIn(type, one))),
        ];
        return { kind: 'found', addresses, ttl: this.#lowest(told.ttl) };
      }
      case 'alias':
        this.#end = this.#follow(told, zone.zone);
        return undefined;
      case 'nodata':
      case 'nxdomain':
        this.isNothing = told.kind === 'nxdomain';
        return { kind: 'none', ttl: this.#lowest(told.ttl) };
      default:
        return told satisfies never;
    }
  }

  /** Why it ends there, where it does. */
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
        message: `a DNAME above ${name} comes without the alias it makes`,
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
      return failed({ zone, reason: 'limit', message: `${name} is one alias too many` });
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
