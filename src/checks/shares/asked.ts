// When a name is checked because clients ask for more than the apex of its unproven zone (docs/rules.md "Names that are asked
// for"). A stranger may ask for a name of its own all the time, so that its check was made a moment ago when the delegation
// comes back: then it is made again soon, within what its account may have of such checks. Pure.

/** A name is checked at once if it was not checked for that reason within this time. */
const ASKED_EACH_MS = 300_000;
/** It is checked again after this time, while its account has had few checks that were made again. */
const ASKED_AGAIN_MS = 30_000;
/** So many of an account, in the count that fades (FADE_MS): about as many a minute. */
const MOST_ASKED_AGAIN = 6;

interface AskedName {
  /** When it was last checked for that reason. */
  readonly checkedAt: number | undefined;
  /** How many checks of the account were made again lately. */
  readonly again: number;
}

interface AskedPlan {
  readonly at: number;
  /** It counts for the account. */
  readonly isAgain: boolean;
}

export function planAsked({ checkedAt, again }: AskedName, now: number): AskedPlan {
  if (checkedAt === undefined || now - checkedAt >= ASKED_EACH_MS) return { at: now, isAgain: false };
  if (again >= MOST_ASKED_AGAIN) return { at: checkedAt + ASKED_EACH_MS, isAgain: false };
  return { at: Math.max(now, checkedAt + ASKED_AGAIN_MS), isAgain: true };
}
