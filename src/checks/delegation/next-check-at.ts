// Schedules the next check of a domain (docs/rules.md "When a domain is checked"): often while its owner waits for a
// result, rarely while nothing changes.

import type { CheckState } from './check-state.ts';
import { isMiss, RETURN_MS } from './next-status.ts';
import type { Judgement } from './verdict.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;
const WEEK_S = 7 * DAY_S;
const NEVER = Number.POSITIVE_INFINITY;

const PENDING: readonly { untilAgeS: number; intervalS: number }[] = [
  { untilAgeS: 6 * HOUR_S, intervalS: 60 },
  { untilAgeS: 3 * DAY_S, intervalS: 5 * MINUTE_S },
  { untilAgeS: 7 * DAY_S, intervalS: 15 * MINUTE_S },
  { untilAgeS: Number.POSITIVE_INFINITY, intervalS: HOUR_S },
];
/** Maximum interval for a pending domain whose checks see nothing. */
const PENDING_UNKNOWN_MAX_S = 6 * HOUR_S;
const ACTIVE_S = 12 * HOUR_S;
const JITTER = 0.2; // spreads the checks of domains that were created together

/**
 * This many consecutive checks without a result may be an outage or a change in progress. Only further ones make checks
 * rarer.
 */
const USUAL_UNKNOWNS = 10;
/** Sufficient to reach the longest interval. */
const MAX_UNKNOWNS = 20;

/** When a domain is checked next. */
interface NextCheck {
  /** Undefined if there is no next check. */
  readonly at: number | undefined;
  /** Current interval without jitter. */
  readonly intervalSeconds: number;
  /** Number of consecutive checks of a pending domain that saw nothing. */
  readonly unknowns: number;
}

/**
 * `state` is the state after the check, and `random` is in [0, 1). While checks of a pending domain see nothing, the
 * interval doubles: its parent does not answer, and frequent queries would not help. `before`: number of consecutive
 * checks without a result before this one. `isTryLater`: the check got no slot, which says nothing about the parent.
 * `isHeard`: the parent's servers answered, but differently, as they do for minutes after every change, so the owner
 * waits for us.
 */
export function nextCheckAt(
  state: CheckState,
  judgement: Pick<Judgement, 'verdict' | 'oursShown' | 'othersShown'>,
  at: number,
  random: number,
  {
    before = 0,
    isTryLater = false,
    isHeard = false,
  }: { readonly before?: number; readonly isTryLater?: boolean; readonly isHeard?: boolean } = {},
): NextCheck {
  const usual = intervalOf(state, judgement, at);
  if (usual === NEVER) return { at: undefined, intervalSeconds: 0, unknowns: 0 };
  const isUnknown = state.status === 'pending' && judgement.verdict === 'unknown' && !isHeard;
  const unknowns = !isUnknown ? 0 : isTryLater ? before : Math.min(MAX_UNKNOWNS, before + 1);
  const longer = Math.min(PENDING_UNKNOWN_MAX_S, usual * 2 ** Math.max(0, unknowns - USUAL_UNKNOWNS));
  const intervalSeconds = Math.max(usual, longer);
  const jitter = 1 - JITTER + 2 * JITTER * random;
  return { at: at + Math.round(intervalSeconds * 1000 * jitter), intervalSeconds, unknowns };
}

function intervalOf(
  { status, since, misses }: CheckState,
  { verdict, oursShown, othersShown }: Pick<Judgement, 'verdict' | 'oursShown' | 'othersShown'>,
  at: number,
): number {
  switch (status) {
    case 'pending': {
      const ageS = (at - since) / 1000;
      return (PENDING.find(({ untilAgeS }) => ageS < untilAgeS) as { intervalS: number }).intervalS;
    }
    case 'active':
      // an unconfirmed miss is rechecked as soon as a confirmed one
      return misses !== undefined || isMiss(verdict) ? HOUR_S : ACTIVE_S;
    case 'moved':
    case 'leaving':
      return HOUR_S;
    case 'ended':
      if (at - since < RETURN_MS) return DAY_S;
      return oursShown !== false || othersShown !== false ? WEEK_S : NEVER;
    default:
      return status satisfies never;
  }
}
