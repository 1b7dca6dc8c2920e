// Selects the nameserver set that a domain has at its apex: the one that its parent delegates to, else the one that its
// owner chose, else the first set that proves it (docs/rules.md "Answering").

import { foldCase, type Name } from '../../dns/name.ts';

type NameserverSet = readonly Name[];

export interface NameserverChoice {
  readonly delegated?: NameserverSet | undefined;
  readonly chosen?: NameserverSet | undefined;
}

/** @param sets the sets that prove the domain; at least one */
function selectNameservers(
  { delegated, chosen }: NameserverChoice,
  sets: readonly NameserverSet[],
): NameserverSet {
  const [first] = sets;
  if (first === undefined) throw new RangeError('there is no nameserver set');
  return findSet(delegated, sets) ?? findSet(chosen, sets) ?? first;
}

/** Returns the set with exactly these names, in any order and case. Sets cannot be mixed. */
export function findSet(
  names: NameserverSet | undefined,
  sets: readonly NameserverSet[],
): NameserverSet | undefined {
  if (names === undefined) return undefined;
  const wanted = keyOf(names);
  return sets.find((set) => keyOf(set) === wanted);
}

/** Returns all sets, the domain's own first. */
export function nameserverSetsOf(
  domain: NameserverChoice,
  sets: readonly NameserverSet[],
): readonly NameserverSet[] {
  if (sets.length === 0) return sets;
  const own = selectNameservers(domain, sets);
  return [own, ...sets.filter((set) => set !== own)];
}

function keyOf(set: NameserverSet): string {
  return [...new Set(set.map(foldCase))].sort().join('');
}
