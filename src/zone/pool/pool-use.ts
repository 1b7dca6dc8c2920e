// The number of combinations of a pool that may be assigned to each purpose (docs/rules.md "Nameserver pools"). Nine tenths
// are for one account each. The rest is for substitutes, and for the sets that accounts share when all others are assigned.

export type SetKind = 'exclusive' | 'substitute' | 'shared';

/** Number of combinations, and how many of them were ever assigned to each purpose. */
export interface PoolUse extends Readonly<Record<SetKind, number>> {
  readonly total: number;
}

/** From this fraction on, the operator is warned to widen a list. */
export const WARNING_SHARE = 0.8;

/** Returns true if a combination that was never assigned may be assigned to this purpose. */
export function mayGive(kind: SetKind, use: PoolUse): boolean {
  const left = use.total - use.exclusive - use.substitute - use.shared;
  if (kind === 'shared') return left > 0 && use.shared < mostShared(use.total);
  // The last one is kept for all later accounts, unless there is already one to share.
  if (left <= (use.shared > 0 ? 0 : 1)) return false;
  return kind === 'substitute' || use.exclusive < mostExclusive(use.total);
}

/** Returns the fraction of the combinations for single accounts that is assigned, from 0 to 1. */
export function shareGiven(use: PoolUse): number {
  if (!mayGive('exclusive', use)) return 1;
  return use.exclusive / mostExclusive(use.total);
}

export function mostExclusive(total: number): number {
  return total - keptBack(total);
}

/** More shared ones mean fewer accounts for each. The other half is for substitutes. */
function mostShared(total: number): number {
  return Math.max(1, Math.floor(keptBack(total) / 2));
}

function keptBack(total: number): number {
  return Math.ceil(total / 10);
}
