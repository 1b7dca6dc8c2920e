// Time window of an analytics query: whole hours or days in UTC, of which the last one is incomplete.

const HOUR_MS = 3_600_000;
export const BUCKET_MS = { minute: 60_000, hour: HOUR_MS, day: 24 * HOUR_MS } as const;

interface Period {
  readonly bucket: 'hour' | 'day';
  readonly buckets: number;
  /** Time limit of a query over this period. */
  readonly seconds: number;
}

export const PERIODS = {
  '3h': { bucket: 'hour', buckets: 3, seconds: 10 },
  '6h': { bucket: 'hour', buckets: 6, seconds: 10 },
  '12h': { bucket: 'hour', buckets: 12, seconds: 10 },
  '24h': { bucket: 'hour', buckets: 24, seconds: 10 },
  '7d': { bucket: 'day', buckets: 7, seconds: 20 },
  '30d': { bucket: 'day', buckets: 30, seconds: 45 },
} as const satisfies Record<string, Period>;

export const PERIOD_NAMES = Object.keys(PERIODS) as (keyof typeof PERIODS)[];
const DEFAULT_PERIOD = '24h';

export interface Window {
  readonly bucket: Period['bucket'];
  /** Start of the first bucket. */
  readonly from: Date;
  /** End of the last bucket. */
  readonly until: Date;
  readonly seconds: number;
}

/** Unknown periods are replaced by the default. */
export function windowOf(period: string | undefined, now: Date): Window {
  const { bucket, buckets, seconds } = periodOf(period);
  const length = BUCKET_MS[bucket];
  const until = Math.floor(now.getTime() / length) * length + length;
  return { bucket, from: new Date(until - buckets * length), until: new Date(until), seconds };
}

function periodOf(text: string | undefined): Period {
  return Object.hasOwn(PERIODS, text ?? '') ? PERIODS[text as keyof typeof PERIODS] : PERIODS[DEFAULT_PERIOD];
}

/** Returns the length of a period, which may begin at any time. */
export function periodMs(period: string | undefined): number {
  const { bucket, buckets } = periodOf(period);
  return buckets * BUCKET_MS[bucket];
}

/** Returns the start of each bucket. */
export function bucketsOf({ bucket, from, until }: Window): Date[] {
  const length = BUCKET_MS[bucket];
  const count = (until.getTime() - from.getTime()) / length;
  return Array.from({ length: count }, (_, i) => new Date(from.getTime() + i * length));
}

/**
 * Returns the preceding window of the same length, up to the same hour: it lacks the same part of its last bucket, so that
 * a day that has just begun does not look like a decline.
 */
export function windowBefore(window: Window, now: Date): Window {
  const length = window.until.getTime() - window.from.getTime();
  const hourEnds = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS + HOUR_MS;
  return {
    ...window,
    from: new Date(window.from.getTime() - length),
    until: new Date(Math.min(window.until.getTime(), hourEnds) - length),
  };
}

/**
 * Returns the hours that end in a period. Traffic is counted by the hour, but quota periods begin at any time. Each hour
 * belongs to the period in which it ends, so that a new subscription counts the hour in which it begins.
 */
export function hoursThatEndIn(start: Date, end: Date): { readonly from: Date; readonly until: Date } {
  const hourOf = (at: Date) => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
  return { from: hourOf(start), until: hourOf(end) };
}
