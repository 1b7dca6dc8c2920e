// The hours whose requests are the traffic of a subscription's quota period.

import { trafficPeriod } from '../../billing/quota.ts';
import { hoursThatEndIn } from '../../edge/analytics/window.ts';

export interface TrafficHours {
  readonly start: Date;
  /** Undefined: the quota is never reset. */
  readonly end: Date | undefined;
  readonly from: Date;
  readonly until: Date;
}

/** Returns the hours of the current period. A period without an end lasts up to and including the current hour. */
export function trafficHours(
  { startedAt, quotaResetDays }: { readonly startedAt: Date; readonly quotaResetDays: number },
  now: Date,
): TrafficHours {
  const { start, end } = trafficPeriod(startedAt, quotaResetDays, now);
  return { start, end, ...hoursThatEndIn(start, end ?? new Date(now.getTime() + 3_600_000)) };
}
