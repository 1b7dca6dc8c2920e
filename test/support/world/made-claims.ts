// Creates claims on a name for the evaluation of checks.

import type { NamedDomain } from '../../../src/checks/claims/answered.ts';
import type { CheckedClaim, NameClaims } from '../../../src/checks/claims/name-claims.ts';
import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import type { Rules } from '../../../src/checks/delegation/next-status.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const NOW = 1_800_000_000_000;
export const RULES: Rules = {
  movedAfterMs: DAY,
  movedGraceMs: 14 * DAY,
  pendingMaxMs: 28 * DAY,
  unknownPendingMaxMs: 90 * DAY,
};

/** A status that began an hour ago, in which one check saw no delegation. */
export const claimState = (status: CheckState['status'], more: Partial<CheckState> = {}): CheckState => ({
  status,
  since: NOW - HOUR,
  misses: undefined,
  conclusive: { at: NOW - HOUR, oursShown: false, othersShown: false },
  witnessAt: undefined,
  ...more,
});

export const madeClaim = (
  id: number,
  state: CheckState,
  sets: CheckedClaim['sets'],
  more: Partial<CheckedClaim> = {},
): CheckedClaim => ({
  id,
  accountId: id,
  state,
  sets,
  byOperator: false,
  wasHolder: false,
  takeoverSeenAt: undefined,
  lastVerdict: undefined,
  unknowns: 0,
  ...more,
});

export const madeName = (claims: readonly CheckedClaim[], more: Partial<NameClaims> = {}): NameClaims => ({
  claims,
  externalHolder: undefined,
  alsoWaiting: [],
  ours: new Set(),
  staticSetCount: 0,
  heldBy: [],
  takeovers: [],
  ...more,
});

/** Creates a domain of a separate account, for decisions about what is answered. */
export const madeDomain = (
  id: number,
  stage: NamedDomain['stage'],
  more: Partial<NamedDomain> = {},
): NamedDomain => ({
  id,
  accountId: id,
  stage,
  open: true,
  othersSighted: false,
  hasTxt: false,
  isApproved: false,
  ...more,
});
