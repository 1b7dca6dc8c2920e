// Which of the accepted nameserver sets a domain has at its apex: the set that its parent delegates to, else the set
// that its owner chose, else the canonical set, which is the first (docs/rules.md "Answering"). A preset delegation
// takes sets away (docs/rules.md "Preset delegation").

import { foldCase, type Name } from '../../dns/name.ts';

type NameserverSet = readonly Name[];

export interface NameserverChoice {
  readonly delegated?: NameserverSet | undefined;
  readonly chosen?: NameserverSet | undefined;
  /** The sets that a preset delegation has taken from the domain. */
  readonly taken?: readonly NameserverSet[] | undefined;
}

const NONE: NameserverSet = [];

/** Empty when no set is left: such a domain is not served. */
export function selectNameservers(domain: NameserverChoice, sets: readonly NameserverSet[]): NameserverSet {
  if (sets.length === 0) throw new RangeError('there is no nameserver set');
  const left = setsLeft(domain, sets);
  return findSet(domain.delegated, left) ?? findSet(domain.chosen, left) ?? left[0] ?? NONE;
}

/** The accepted sets that the domain may be delegated to. */
export function setsLeft(
  { taken = [] }: NameserverChoice,
  sets: readonly NameserverSet[],
): readonly NameserverSet[] {
  if (taken.length === 0) return sets;
  return sets.filter((set) => findSet(set, taken) === undefined);
}

/** The accepted set of exactly these names, in any order and case: sets cannot be mixed. */
export function findSet(
  names: NameserverSet | undefined,
  sets: readonly NameserverSet[],
): NameserverSet | undefined {
  if (names === undefined) return undefined;
  const wanted = keyOf(names);
  return sets.find((set) => keyOf(set) === wanted);
}

/** All sets that are left to it, the domain's own first. */
export function nameserverSetsOf(domain: NameserverChoice, sets: readonly NameserverSet[]): NameserverSet[] {
  const own = selectNameservers(domain, sets);
  const left = setsLeft(domain, sets);
  return left.length === 0 ? [] : [own, ...left.filter((set) => set !== own)];
}

function keyOf(set: NameserverSet): string {
  return [...new Set(set.map(foldCase))].sort().join('');
}
