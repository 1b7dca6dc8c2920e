// Which of the accepted nameserver sets a domain has at its apex: the one its parent delegates to, else the one its
// owner chose, else the canonical one, which is the first (spec §3).

import { foldCase, type Name } from '../dns/name.ts';

export type NameserverSet = readonly Name[];

export function selectNameservers(
  domain: { readonly delegated?: NameserverSet | undefined; readonly chosen?: NameserverSet | undefined },
  sets: readonly NameserverSet[],
): NameserverSet {
  const [canonical] = sets;
  if (canonical === undefined) throw new RangeError('there is no nameserver set');
  return findSet(domain.delegated, sets) ?? findSet(domain.chosen, sets) ?? canonical;
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

/** All accepted sets, the domain's own first. */
export function nameserverSetsOf(
  domain: Parameters<typeof selectNameservers>[0],
  sets: readonly NameserverSet[],
): NameserverSet[] {
  const own = selectNameservers(domain, sets);
  return [own, ...sets.filter((set) => set !== own)];
}

function keyOf(set: NameserverSet): string {
  return [...new Set(set.map(foldCase))].sort().join('');
}
