// How long a name is looked at after its last domain here has ended (docs/rules.md "Sightings"): what its parent shows then
// says which shared sets prove nothing for whoever claims it next.

import { RETURN_MS } from '../delegation/next-status.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const JITTER = 0.2;

/** An account can make and delete names without end: beyond so many, those that ended first are no longer looked at. */
export const MOST_SWEPT_NAMES = 1000;

export interface SweptName {
  /** When its domain ended, in milliseconds since 1970. */
  readonly endedAt: number;
  /** The newest conclusive look saw a name of ours; true before the first one. */
  readonly isShown: boolean;
}

/** `shown`: whether this look saw a name of ours, undefined if it saw nothing. `random` is in [0, 1). Undefined: it was the last look. */
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
