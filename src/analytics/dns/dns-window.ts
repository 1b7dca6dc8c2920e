// The time that a question about DNS answers is about: whole minutes, hours or days in UTC, of which the last one is still filling.

const MINUTE_MS = 60_000;
const BUCKET_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 24 * 60 * MINUTE_MS } as const;

const PERIODS = {
  '1h': { bucket: 'minute', buckets: 60 },
  '3h': { bucket: 'hour', buckets: 3 },
  '6h': { bucket: 'hour', buckets: 6 },
  '12h': { bucket: 'hour', buckets: 12 },
  '24h': { bucket: 'hour', buckets: 24 },
  '7d': { bucket: 'day', buckets: 7 },
  '30d': { bucket: 'day', buckets: 30 },
} as const satisfies Record<string, { bucket: keyof typeof BUCKET_MS; buckets: number }>;

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
