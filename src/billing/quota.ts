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

/** Owners are told when they have used so much of what is included. */
const TOLD_PERCENT = [100, 80] as const;

/** What is to be told of so much traffic; undefined: nothing. No traffic is never told. */
export function toldPercent(
  octets: number,
  limitGb: number | null,
): (typeof TOLD_PERCENT)[number] | undefined {
  if (limitGb === null || octets === 0) return undefined;
  return TOLD_PERCENT.find((percent) => octets * 100 >= limitGb * GB * percent);
}

/** 10^9 bytes, as networks count them. */
export const GB = 1_000_000_000;
