// The hours whose requests are the traffic of a subscription's quota period.

import { trafficPeriod } from '../../billing/quota.ts';
import { hoursThatBeginIn } from '../../edge/analytics/window.ts';

export interface TrafficHours {
  readonly start: Date;
  /** Undefined: the quota is never reset. */
  readonly end: Date | undefined;
  readonly from: Date;
  readonly until: Date;
}

/** Those of the period that it is, up to now where it has no end. */
export function trafficHours(
  { startedAt, quotaResetDays }: { readonly startedAt: Date; readonly quotaResetDays: number },
  now: Date,
): TrafficHours {
  const { start, end } = trafficPeriod(startedAt, quotaResetDays, now);
  return { start, end, ...hoursThatBeginIn(start, end ?? new Date(now.getTime() + 3_600_000)) };
}
