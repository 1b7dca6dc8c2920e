// Converts counts to chart data: curves of the largest kinds, and shares.

export type Counts = Readonly<Record<string, number>>;

export interface Bucket {
  readonly timestamp: string;
  readonly count: number;
  readonly types: Counts;
  readonly rcodes: Counts;
}

export interface Curve {
  readonly key: string;
  readonly counts: readonly number[];
}

/** Names of the periods in the query. */
export const PERIODS = ['1h', '3h', '6h', '12h', '24h', '7d', '30d'] as const;
export type Period = (typeof PERIODS)[number];

export const DEFAULT_PERIOD: Period = '24h';

export function periodOf(text: string | undefined): Period {
  return PERIODS.find((each) => each === text) ?? DEFAULT_PERIOD;
}

/** The edges do not count by minute. */
export function edgePeriodOf(period: Period): Exclude<Period, '1h'> {
  return period === '1h' ? '3h' : period;
}

/** Sorted by size, then by name. */
export function ranked(counts: Counts): readonly (readonly [string, number])[] {
  return Object.entries(counts).sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
}

/** Returns a curve for each of the largest kinds, and one for all others with the key `rest`. */
export function curvesOf(
  buckets: readonly Bucket[],
  by: 'types' | 'rcodes',
  most: number,
  rest: string,
): readonly Curve[] {
  const sums: Record<string, number> = {};
  for (const bucket of buckets)
    for (const [key, value] of Object.entries(bucket[by])) sums[key] = (sums[key] ?? 0) + value;
  const keys = ranked(sums)
    .map(([key]) => key)
    .filter((key) => key !== rest);
  const isRoomy = keys.length <= most && !Object.hasOwn(sums, rest);
  const shown = isRoomy ? keys : keys.slice(0, most - 1);
  const curves = shown.map((key) => ({ key, counts: buckets.map((bucket) => countOf(bucket[by], key)) }));
  if (isRoomy) return curves;
  const others = buckets.map((bucket) =>
    Object.entries(bucket[by]).reduce((sum, [key, value]) => (shown.includes(key) ? sum : sum + value), 0),
  );
  return [...curves, { key: rest, counts: others }];
}

export function countOf(counts: Counts, key: string): number {
  return Object.hasOwn(counts, key) ? (counts[key] ?? 0) : 0;
}

/** Returns a share from 0 to 1, or 0 if the total is 0. */
export function shareOf(counts: Counts, key: string): number {
  const total = Object.values(counts).reduce((sum, value) => sum + value, 0);
  return total === 0 ? 0 : countOf(counts, key) / total;
}

/** Scales a range by `factor` around its middle, within the whole range. */
export function zoomed(
  [from, to]: readonly [number, number],
  factor: number,
  [first, last]: readonly [number, number],
): readonly [number, number] {
  const middle = (from + to) / 2;
  const half = Math.min(((to - from) / 2) * factor, (last - first) / 2);
  return within([middle - half, middle + half], [first, last]);
}

/** Moves a range by a fraction of its length, within the whole range. */
export function moved(
  [from, to]: readonly [number, number],
  part: number,
  whole: readonly [number, number],
): readonly [number, number] {
  const by = (to - from) * part;
  return within([from + by, to + by], whole);
}

function within(
  [from, to]: readonly [number, number],
  [first, last]: readonly [number, number],
): readonly [number, number] {
  const length = to - from;
  if (from < first) return [first, Math.min(last, first + length)];
  if (to > last) return [Math.max(first, last - length), last];
  return [from, to];
}

/** `2026-11-28 12:00`, without the time if a bucket is a day. */
export function bucketText(timestamp: string, bucket: 'minute' | 'hour' | 'day'): string {
  return bucket === 'day' ? timestamp.slice(0, 10) : timestamp.slice(0, 16).replace('T', ' ');
}
