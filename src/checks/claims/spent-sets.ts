// Which shared sets a claim loses (docs/rules.md "Proof"): a set that several accounts may have proves nothing if the parent showed any
// of its names before the claim was made. Who set them there did not do it for this claim.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from '../delegation/check-state.ts';
import type { ClaimSet } from './name-claims.ts';

/**
 * `shown`: the names that were sighted before the claim was made, or that its first conclusive check saw. `isOnlySet`:
 * there is no other set to which the owner could change, so it is spent only if another account may have set it.
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
    /** Another account held the name, or waits for it. */
    readonly isContested: boolean;
  },
): readonly NameserverSet[] {
  if (mayBeSeen || (isOnlySet && !isContested)) return [];
  return sets
    .filter(({ names, exclusive }) => !exclusive && names.some((name) => shown.has(name)))
    .map(({ names }) => names);
}
