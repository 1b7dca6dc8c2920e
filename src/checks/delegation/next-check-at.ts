// When a domain is checked again (docs/rules.md "When a domain is checked"): often while its owner waits for a result,
// rarely while nothing changes.

import type { CheckState } from './check-state.ts';
import { isMiss } from './next-status.ts';
import type { Verdict } from './verdict.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;

const PENDING: readonly { untilAgeS: number; intervalS: number }[] = [
  { untilAgeS: 6 * HOUR_S, intervalS: 60 },
  { untilAgeS: 3 * DAY_S, intervalS: 5 * MINUTE_S },
  { untilAgeS: 7 * DAY_S, intervalS: 15 * MINUTE_S },
  { untilAgeS: Number.POSITIVE_INFINITY, intervalS: HOUR_S },
];
/** How rarely a pending domain is checked at most while its checks see nothing. */
const PENDING_UNKNOWN_MAX_S = 6 * HOUR_S;
const ACTIVE_S = 12 * HOUR_S;
const JITTER = 0.2; // spreads the checks of domains that were created together

/** The check before: its verdict, and the interval that was in force after it. */
interface CheckBefore {
  readonly verdict: Verdict | undefined;
  readonly intervalSeconds: number | undefined;
}

/**
 * `state` is that after the check, `random` is in [0, 1). `intervalSeconds` is the interval in force, without the
 * jitter. While checks of a pending domain see nothing, the interval doubles: its parent is silent, and asking often wins
 * nothing. `isTryLater`: we had no slot for the check, which says nothing of the parent.
 */
export function nextCheckAt(
  state: CheckState,
  verdict: Verdict,
  at: number,
  random: number,
  { before, isTryLater = false }: { readonly before?: CheckBefore; readonly isTryLater?: boolean } = {},
): { at: number; intervalSeconds: number } {
  const usual = intervalOf(state, verdict, at);
  const isSilent = state.status === 'pending' && verdict === 'unknown';
  const last = before?.verdict === 'unknown' ? (before.intervalSeconds ?? 0) : 0;
  const longer = Math.min(PENDING_UNKNOWN_MAX_S, 2 * last);
  const intervalSeconds = isSilent ? Math.max(usual, isTryLater ? last : longer) : usual;
  const jitter = 1 - JITTER + 2 * JITTER * random;
  return { at: at + Math.round(intervalSeconds * 1000 * jitter), intervalSeconds };
}

function intervalOf({ status, since, misses }: CheckState, verdict: Verdict, at: number): number {
  switch (status) {
    case 'pending': {
      const ageS = (at - since) / 1000;
      return (PENDING.find(({ untilAgeS }) => ageS < untilAgeS) as { intervalS: number }).intervalS;
    }
    case 'active':
      // an unconfirmed miss is checked again as soon as a confirmed one
      return misses !== undefined || isMiss(verdict) ? HOUR_S : ACTIVE_S;
    case 'moved':
    case 'leaving':
      return HOUR_S;
    default:
      return status satisfies never;
  }
}
