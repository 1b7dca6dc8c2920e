// Schedules checks of a name after its last domain here has ended (docs/rules.md "Sightings"). They determine which shared
// sets no longer prove the next claim of the name.

import { RETURN_MS } from '../delegation/next-status.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const JITTER = 0.2;

/**
 * An account can create and delete names without limit. Above this number, the names that ended first are no longer
 * checked.
 */
export const MOST_SWEPT_NAMES = 1000;

export interface SweptName {
  /** When its domain ended, in milliseconds since 1970. */
  readonly endedAt: number;
  /** True if the newest conclusive check saw one of our nameservers. True before the first check. */
  readonly isShown: boolean;
}

/**
 * `shown`: true if this check saw one of our nameservers, undefined if it was inconclusive. `random` is in [0, 1).
 * Returns undefined after the last check.
 */
export function nextSweep(
  { endedAt, isShown: before }: SweptName,
  shown: boolean | undefined,
  at: number,
  random: number,
): { readonly at: number; readonly isShown: boolean } | undefined {
  const isShown = shown ?? before;
  const isYoung = at - endedAt < RETURN_MS;
  if (!isYoung && !isShown) return undefined;
  const interval = isYoung ? DAY_MS : WEEK_MS;
  return { at: at + Math.round(interval * (1 - JITTER + 2 * JITTER * random)), isShown };
}
