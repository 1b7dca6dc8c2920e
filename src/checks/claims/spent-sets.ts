// Determines the shared sets that a claim loses (docs/rules.md "Proof"). A set that several accounts may have proves
// nothing if the parent showed any of its names before the claim was made: they were not set for this claim.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from '../delegation/check-state.ts';
import type { ClaimSet } from './name-claims.ts';

/**
 * `shown`: names sighted before the claim was made, or by its first conclusive check. `isOnlySet`: the owner has no
 * other set to change to, so it is spent only if another account may have set it.
 */
export function spentSets(
  sets: readonly ClaimSet[],
  shown: ReadonlySet<Name>,
  {
    mayBeSeen,
    isOnlySet,
    isContested,
  }: {
    readonly mayBeSeen: boolean;
    readonly isOnlySet: boolean;
    /** True if another account held the name or waits for it. */
    readonly isContested: boolean;
  },
): readonly NameserverSet[] {
  if (mayBeSeen || (isOnlySet && !isContested)) return [];
  return sets
    .filter(({ names, exclusive }) => !exclusive && names.some((name) => shown.has(name)))
    .map(({ names }) => names);
}
