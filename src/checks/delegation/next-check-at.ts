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
const ACTIVE_S = 12 * HOUR_S;
const JITTER = 0.2; // spreads the checks of domains that were created together

/**
 * `state` is that after the check, `random` is in [0, 1). `intervalSeconds` is the interval in force, without the
 * jitter.
 */
export function nextCheckAt(
  state: CheckState,
  verdict: Verdict,
  at: number,
  random: number,
): { at: number; intervalSeconds: number } {
  const intervalSeconds = intervalOf(state, verdict, at);
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
