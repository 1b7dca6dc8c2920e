// Schedules checks of names for which clients query more than the apex of an unproven zone (docs/rules.md "Queries for
// unproven names"). A third party may query a name constantly, so that it was checked just before its delegation appears. Such
// a name is checked again soon, up to a limit per account.

/** A name is checked immediately if it was not checked for this reason within this time. */
const ASKED_EACH_MS = 300_000;
/** A name is rechecked after this time if its account has had few rechecks recently. */
const ASKED_AGAIN_MS = 30_000;
/** Maximum number of an account's rechecks in the decaying count (FADE_MS): about this many per minute. */
const MOST_ASKED_AGAIN = 6;

interface AskedName {
  /** When it was last checked for this reason. */
  readonly checkedAt: number | undefined;
  /** Number of the account's recent rechecks. */
  readonly again: number;
}

interface AskedPlan {
  readonly at: number;
  /** True if it counts as a recheck for the account. */
  readonly isAgain: boolean;
}

export function planAsked({ checkedAt, again }: AskedName, now: number): AskedPlan {
  if (checkedAt === undefined || now - checkedAt >= ASKED_EACH_MS) return { at: now, isAgain: false };
  if (again >= MOST_ASKED_AGAIN) return { at: checkedAt + ASKED_EACH_MS, isAgain: false };
  return { at: Math.max(now, checkedAt + ASKED_AGAIN_MS), isAgain: true };
}
