// The nameserver sets of a simulated fleet and their assignment: like src/store/claims/pool-sets.ts, in memory.

import type { ClaimSet } from '../../../../src/checks/claims/name-claims.ts';
import type { NameserverSet } from '../../../../src/checks/delegation/check-state.ts';
import type { Name } from '../../../../src/dns/name.ts';
import { combinationCount, combinationsToTry } from '../../../../src/zone/pool/combinations.ts';
import { mayGive, type SetKind } from '../../../../src/zone/pool/pool-use.ts';
import type { Random } from '../../random/random-zones.ts';
import { names } from '../../world/check-evidence.ts';

/** `pool`: enough for all accounts. `scarce`: most accounts share sets. `two`, `one`: this many static sets. */
export type FleetKind = 'pool' | 'scarce' | 'two' | 'one';

const list = (letter: string, count: number): readonly Name[] =>
  names(Array.from({ length: count }, (_, i) => `ns${i + 1}.${letter}`).join(' '));

export class SimulatedSets {
  readonly kind: FleetKind;
  readonly staticSets: readonly NameserverSet[];
  readonly ours: ReadonlySet<Name>;
  private readonly random: Random;
  private readonly lists: readonly (readonly Name[])[];
  private readonly given = new Map<string, { readonly kind: SetKind; readonly names: NameserverSet }>();
  private readonly counts: Record<SetKind, number> = { exclusive: 0, substitute: 0, shared: 0 };
  private readonly owners = new Map<string, number>();
  private readonly accounts = new Map<number, ClaimSet>();
  /** A broken pool assigns previously assigned sets. */
  private readonly isBroken: boolean;

  constructor(kind: FleetKind, random: Random, isBroken = false) {
    this.kind = kind;
    this.random = random;
    this.isBroken = isBroken;
    const sizes = kind === 'pool' ? 40 : 5;
    this.lists =
      kind === 'pool' || kind === 'scarce' ? ['p', 'q', 'r'].map((letter) => list(letter, sizes)) : [];
    const all = [names('ns1.a ns2.a'), names('ns1.b ns2.b')];
    this.staticSets = kind === 'two' ? all : kind === 'one' ? all.slice(0, 1) : [];
    this.ours = new Set([...this.lists.flat(), ...this.staticSets.flat()]);
  }

  get isPool(): boolean {
    return this.lists.length > 0;
  }

  accountSet(accountId: number): ClaimSet {
    const known = this.accounts.get(accountId);
    if (known !== undefined) return known;
    const set = this.giveAccount();
    this.accounts.set(accountId, set);
    if (set.exclusive) this.owners.set([...set.names].sort().join(), accountId);
    return set;
  }

  /** The only account with this set. Undefined if several may have it, or none has. */
  exclusiveTo(set: NameserverSet): number | undefined {
    return this.owners.get([...set].sort().join());
  }

  substitute(isUsable: (set: NameserverSet) => boolean): ClaimSet | undefined {
    const old = this.givenAs('substitute').find(isUsable);
    if (old !== undefined) return { names: old, exclusive: true };
    if (this.mayGive('substitute')) {
      let tries = 0;
      for (const set of this.free()) {
        if (tries++ === 64) break;
        if (isUsable(set)) return { names: this.give(set, 'substitute'), exclusive: true };
      }
    }
    const shared = this.givenAs('shared').find(isUsable);
    return shared && { names: shared, exclusive: false };
  }

  /** Any of our sets, to which a name may have been delegated for years. */
  anySet(): NameserverSet {
    if (!this.isPool)
      return this.staticSets[Math.floor(this.random() * this.staticSets.length)] as NameserverSet;
    return this.lists.map((names) => names[Math.floor(this.random() * names.length)] as Name);
  }

  private giveAccount(): ClaimSet {
    if (this.isBroken && this.given.size > 0)
      return { names: this.givenAs('exclusive')[0] as NameserverSet, exclusive: true };
    const kind = this.mayGive('exclusive') ? 'exclusive' : 'shared';
    if (this.mayGive(kind))
      for (const set of this.free()) return { names: this.give(set, kind), exclusive: kind === 'exclusive' };
    const shared = this.givenAs('shared');
    return { names: shared[Math.floor(this.random() * shared.length)] as NameserverSet, exclusive: false };
  }

  private mayGive(kind: SetKind): boolean {
    return mayGive(kind, { total: combinationCount(this.lists), ...this.counts });
  }

  private give(set: NameserverSet, kind: SetKind): NameserverSet {
    this.given.set(set.join(), { kind, names: set });
    this.counts[kind]++;
    return set;
  }

  private givenAs(kind: SetKind): readonly NameserverSet[] {
    return [...this.given.values()].filter((given) => given.kind === kind).map(({ names }) => names);
  }

  private *free(): Generator<NameserverSet> {
    for (const batch of combinationsToTry(this.lists, this.random))
      for (const set of batch) if (!this.given.has(set.join())) yield set;
  }
}
