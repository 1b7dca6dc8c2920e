// The time that a question about DNS answers is about: whole minutes, hours or days in UTC, of which the last one is still filling.

import { BUCKET_MS, PERIODS as PERIODS_OF_REQUESTS } from '../../edge/analytics/window.ts';

/** Minutes, too, since nothing but counts is kept of them. */
const PERIODS = { '1h': { bucket: 'minute', buckets: 60 }, ...PERIODS_OF_REQUESTS } as const;

export const DNS_PERIODS = Object.keys(PERIODS) as [keyof typeof PERIODS];

export interface DnsWindow {
  readonly bucket: keyof typeof BUCKET_MS;
  readonly bucketMs: number;
  /** The first moment of each bucket. */
  readonly starts: readonly number[];
  /** The first moment after the last bucket. */
  readonly untilMs: number;
}

export function dnsWindowOf(period: (typeof DNS_PERIODS)[number], nowMs: number): DnsWindow {
  const { bucket, buckets } = PERIODS[period];
  const bucketMs = BUCKET_MS[bucket];
  const untilMs = Math.floor(nowMs / bucketMs) * bucketMs + bucketMs;
  const starts = Array.from({ length: buckets }, (_, i) => untilMs - (buckets - i) * bucketMs);
  return { bucket, bucketMs, starts, untilMs };
}
