// Finds the addresses of the fleet's nameservers by their names. They are required only if all servers of a parent
// also serve the domain: answers of the fleet's own servers do not count.

import type { NameserverSet } from '../../src/checks/delegation/check-state.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';

const KEPT_MS = 600_000;
/** Time until a failed lookup is repeated. */
const RETRY_MS = 60_000;

/** Returns the addresses of all names, or undefined if one cannot be resolved. Checks share a lookup. */
export type FindOurAddresses = (sets: readonly NameserverSet[]) => Promise<ReadonlySet<string> | undefined>;

export function rememberOurAddresses(
  resolver: Pick<Resolver, 'findAllAddresses'>,
  now: () => number = Date.now,
): FindOurAddresses {
  let known:
    | { readonly key: string; readonly found: ReturnType<FindOurAddresses>; until: number }
    | undefined;
  return (sets) => {
    const names = [...new Set(sets.flat())].sort();
    const key = names.join();
    if (known !== undefined && known.key === key && now() < known.until) return known.found;
    const found = resolver.findAllAddresses(names).catch(() => undefined);
    const begun = { key, found, until: now() + KEPT_MS };
    known = begun;
    void found.then((addresses) => {
      if (addresses === undefined) begun.until = Math.min(begun.until, now() + RETRY_MS);
    });
    return found;
  };
}
