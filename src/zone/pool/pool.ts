// The pool of nameserver names from which each account gets a set of its own: lists of names, and the addresses of the
// names of each list (docs/rules.md "Nameserver pools").

import { type Name, parseName } from '../../dns/name.ts';
import { expandPattern } from './name-pattern.ts';

export interface NameserverPool {
  /** 2 to 4 lists of folded names. No name is in two of them. */
  readonly lists: readonly (readonly Name[])[];
  /** The addresses of the names of each list, with IPv6 in the form of RFC 5952. */
  readonly addresses: readonly (readonly string[])[];
}

/** Returns undefined if there are no lists. `lists` contains patterns as absolute names. */
export function expandPool(
  lists: readonly (readonly string[])[],
  addresses: readonly (readonly string[])[],
): NameserverPool | undefined {
  if (lists.length === 0) return undefined;
  const expanded = lists.map((patterns) => patterns.flatMap((pattern) => expandPattern(pattern) ?? []));
  return { lists: expanded.map((names) => names.map((name) => parseName(name))), addresses };
}
