// Periods over which traffic is counted. They are consecutive from the start of a subscription. Their length is that of the
// plan when the subscription began.

import { addDays } from './subscription.ts';

const DAY_MS = 86_400_000;

interface QuotaPeriod {
  readonly start: Date;
  readonly end: Date;
}

/** Returns undefined if the quota is never reset. */
export function quotaPeriod(startedAt: Date, resetDays: number, at: Date): QuotaPeriod | undefined {
  if (resetDays <= 0) return undefined;
  const past = Math.floor((at.getTime() - startedAt.getTime()) / (resetDays * DAY_MS));
  const start = addDays(startedAt, Math.max(0, past) * resetDays);
  return { start, end: addDays(start, resetDays) };
}

/** Returns the period over which traffic is currently counted. Without resets it begins at the start and has no end. */
export function trafficPeriod(
  startedAt: Date,
  resetDays: number,
  at: Date,
): { readonly start: Date; readonly end: Date | undefined } {
  return quotaPeriod(startedAt, resetDays, at) ?? { start: startedAt, end: undefined };
}

/** Owners are notified when they have used this percentage of the included traffic. */
const TOLD_PERCENT = [100, 80] as const;

/** Returns the percentage to notify about, or undefined if there is none. Zero traffic is never notified. */
export function toldPercent(
  octets: number,
  limitGb: number | null,
): (typeof TOLD_PERCENT)[number] | undefined {
  if (limitGb === null || octets === 0) return undefined;
  return TOLD_PERCENT.find((percent) => octets * 100 >= limitGb * GB * percent);
}

/** 10^9 bytes, as used for network traffic. */
export const GB = 1_000_000_000;
