// The periods over which traffic is counted: they follow each other from the start of a subscription, whose length of a
// period is the plan's on the day that it began.

import { addDays } from './subscription.ts';

const DAY_MS = 86_400_000;

interface QuotaPeriod {
  readonly start: Date;
  readonly end: Date;
}

/** Undefined: the quota is never reset. */
export function quotaPeriod(startedAt: Date, resetDays: number, at: Date): QuotaPeriod | undefined {
  if (resetDays <= 0) return undefined;
  const past = Math.floor((at.getTime() - startedAt.getTime()) / (resetDays * DAY_MS));
  const start = addDays(startedAt, Math.max(0, past) * resetDays);
  return { start, end: addDays(start, resetDays) };
}

/** The time over which traffic is counted now; one that is never reset goes on since the start, and has no end. */
export function trafficPeriod(
  startedAt: Date,
  resetDays: number,
  at: Date,
): { readonly start: Date; readonly end: Date | undefined } {
  return quotaPeriod(startedAt, resetDays, at) ?? { start: startedAt, end: undefined };
}

/** 10^9 bytes, as networks count them. */
export const GB = 1_000_000_000;
