// How a name passes from the account that holds it to another one (docs/rules.md "Takeovers"): only by two checks, and the second one
// must hear the same from every address of the parent.

import type { Evidence } from '../delegation/evidence.ts';
import type { Judgement } from '../delegation/verdict.ts';

/** How long after the first check the second one comes. */
export const SECOND_LOOK_MS = 60_000;
/** How many addresses of the parent the second check asks at least, if there are as many. */
const THOROUGH_ADDRESSES = 6;
const TAKEOVERS_A_DAY = 4;
const MANY_TAKEOVERS_MS = 6 * 3_600_000;

/** What the owner of a domain in external mode is told: its nameservers are its own affair. */
export const EXTERNAL_HOLDER_WARNING =
  'Your registrar shows the nameservers of another account here, and the name passes to it with the next check. If this was not you, secure your account at the registrar now and set your own nameservers there again.';

type TakeoverStep =
  /** Wait for another check, at `nextAt`. */
  { readonly kind: 'seen'; readonly since: number; readonly nextAt: number } | { readonly kind: 'taken' };

/**
 * What a check means that proves a claim on a name which another account holds. `since`: when the first such check in a
 * row was; `takeovers`: when the name changed hands within a day.
 */
export function nextTakeoverStep(
  {
    since,
    takeovers,
    isFrozen,
  }: {
    readonly since: number | undefined;
    readonly takeovers: readonly number[];
    readonly isFrozen: boolean;
  },
  evidence: Evidence,
  judgement: Judgement,
): TakeoverStep {
  const at = evidence.finishedAt;
  const first = since === undefined || since > at ? at : since;
  const waitMs = takeoverWaitMs(takeovers, SECOND_LOOK_MS);
  const isDue = since !== undefined && at - first >= waitMs;
  if (isDue && !isFrozen && isSaidByAll(evidence, judgement)) return { kind: 'taken' };
  return { kind: 'seen', since: first, nextAt: Math.max(at + SECOND_LOOK_MS, first + waitMs) };
}

/** How long the same must be seen before the name passes; `usualMs` for one that did not change hands often. */
export function takeoverWaitMs(takeovers: readonly number[], usualMs: number): number {
  return takeovers.length >= TAKEOVERS_A_DAY ? MANY_TAKEOVERS_MS : usualMs;
}

/** Whether every address of the parent was asked, and all that answered refer to the same names. */
function isSaidByAll({ servers, parentAddresses }: Evidence, judgement: Judgement): boolean {
  if (servers.some(({ transport }) => transport === 'database')) return true;
  if (servers.length < Math.min(parentAddresses, THOROUGH_ADDRESSES)) return false;
  return servers.every(({ outcome }) => outcome !== 'answer') && judgement.confirmed && !judgement.byAnswer;
}
