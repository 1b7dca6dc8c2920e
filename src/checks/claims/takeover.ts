// Decides when a name passes from the account that holds it to another one (docs/rules.md "Takeovers"). This takes two
// checks, and in the second one every address of the parent must give the same answer.

import type { Evidence } from '../delegation/evidence.ts';
import type { Judgement } from '../delegation/verdict.ts';

/** Time from the first check to the second one. */
export const SECOND_LOOK_MS = 60_000;
/** Minimum number of the parent's addresses that the second check queries, if there are as many. */
const THOROUGH_ADDRESSES = 6;
const TAKEOVERS_A_DAY = 4;
const MANY_TAKEOVERS_MS = 6 * 3_600_000;

/** Warning for the owner of a domain in external mode, who chooses its nameservers. */
export const EXTERNAL_HOLDER_WARNING =
  'Your registrar shows the nameservers of another account here, and the name passes to it with the next check. If this was not you, secure your account at the registrar now and set your own nameservers there again.';

type TakeoverStep =
  /** Wait for another check at `nextAt`. */
  { readonly kind: 'seen'; readonly since: number; readonly nextAt: number } | { readonly kind: 'taken' };

/**
 * Evaluates a check that proves a claim on a name held by another account. `since`: the first such check of an unbroken
 * series. `takeovers`: when the name changed hands within the last day.
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

/** Returns how long the proof must persist before the name passes. `usualMs` applies to names that rarely change hands. */
export function takeoverWaitMs(takeovers: readonly number[], usualMs: number): number {
  return takeovers.length >= TAKEOVERS_A_DAY ? MANY_TAKEOVERS_MS : usualMs;
}

/** True if every address of the parent was queried and all that answered refer to the same names. */
function isSaidByAll({ servers, parentAddresses }: Evidence, judgement: Judgement): boolean {
  if (servers.some(({ transport }) => transport === 'database')) return true;
  if (servers.length < Math.min(parentAddresses, THOROUGH_ADDRESSES)) return false;
  return servers.every(({ outcome }) => outcome !== 'answer') && judgement.confirmed && !judgement.byAnswer;
}
