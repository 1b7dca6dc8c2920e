// How many combinations of a pool may be given, and to what end (docs/rules.md "Nameserver pools"): nine tenths to one
// account each; the rest is kept for substitutes, and for the sets that accounts share when all others are given.

export type SetKind = 'exclusive' | 'substitute' | 'shared';

/** How many combinations there are, and how many of them were ever given as what. */
export interface PoolUse extends Readonly<Record<SetKind, number>> {
  readonly total: number;
}

/** From this share on the operator is warned: time to widen a list. */
export const WARNING_SHARE = 0.8;

/** Whether a combination that was never given may be given as this. */
export function mayGive(kind: SetKind, use: PoolUse): boolean {
  const left = use.total - use.exclusive - use.substitute - use.shared;
  if (kind === 'shared') return left > 0 && use.shared < mostShared(use.total);
  // The last one is for all that come later, unless they have one to share.
  if (left <= (use.shared > 0 ? 0 : 1)) return false;
  return kind === 'substitute' || use.exclusive < mostExclusive(use.total);
}

/** The share of the combinations for single accounts that is given, from 0 to 1. */
export function shareGiven(use: PoolUse): number {
  if (!mayGive('exclusive', use)) return 1;
  return use.exclusive / mostExclusive(use.total);
}

export function mostExclusive(total: number): number {
  return total - keptBack(total);
}

/** More of them means fewer accounts for each; the other half is for substitutes. */
function mostShared(total: number): number {
  return Math.max(1, Math.floor(keptBack(total) / 2));
}

function keptBack(total: number): number {
  return Math.ceil(total / 10);
}
