// Writes the nodes' counts of answers to the analytics store, and loads them.

import type { Analytics } from '../../analytics/open-analytics.ts';
import type { Asking } from '../../analytics/requests/asked-requests.ts';
import { BUCKET_MS, PERIODS as PERIODS_OF_REQUESTS } from '../../edge/analytics/window.ts';

/** Unlike requests, queries are also available by minute, because only counts of them are kept. */
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

const MOST_NODES = 1000;
const MOST_NAMES = 10;

export interface DnsCount {
  readonly bucket: number;
  readonly type: number;
  readonly rcode: number;
  readonly count: number;
}

interface DnsCounts {
  readonly counts: readonly DnsCount[];
  readonly nodes: readonly { readonly node: string; readonly count: number }[];
  readonly names: readonly { readonly name: string; readonly count: number }[];
}

const placeOf = ({ bucket }: DnsWindow) =>
  bucket === 'minute' ? { table: 'dns_minutely', at: 'minute' } : { table: 'dns_hourly', at: 'hour' };

function timesOf({ starts, untilMs, bucketMs }: DnsWindow): Record<string, number> {
  const [first = untilMs] = starts;
  return { from: first / 1000, until: untilMs / 1000, length: bucketMs / 1000 };
}

const within = (at: string) =>
  `${at} >= toDateTime({from:UInt32}, 'UTC') AND ${at} < toDateTime({until:UInt32}, 'UTC')`;
/** Index of the bucket, from 0. */
const numbered = (at: string) => `intDiv(toUnixTimestamp(${at}) - {from:UInt32}, {length:UInt32})`;

export async function loadDnsCounts(
  { store, seconds, signal }: Asking,
  domainId: number,
  window: DnsWindow,
): Promise<DnsCounts> {
  const { table, at } = placeOf(window);
  const values = { domain: domainId, ...timesOf(window) };
  const options = { seconds, ...(signal && { signal }) };
  const counts = await store.query<DnsCount>(
    `SELECT ${numbered(at)} AS bucket, type, rcode, sum(count) AS count FROM ${table}
     WHERE domain_id = {domain:UInt64} AND ${within(at)} GROUP BY bucket, type, rcode`,
    values,
    options,
  );
  const nodes = await store.query<DnsCounts['nodes'][number]>(
    `SELECT node, sum(count) AS count FROM ${table} WHERE domain_id = {domain:UInt64} AND ${within(at)}
     GROUP BY node ORDER BY count DESC, node LIMIT ${MOST_NODES}`,
    values,
    options,
  );
  const names = await store.query<DnsCounts['names'][number]>(
    `SELECT name, sum(count) AS count FROM dns_names_daily
     WHERE domain_id = {domain:UInt64} AND day >= toDate(toDateTime({from:UInt32}, 'UTC'))
       AND day < toDateTime({until:UInt32}, 'UTC')
     GROUP BY name ORDER BY count DESC, name LIMIT ${MOST_NAMES}`,
    values,
    options,
  );
  return { counts, nodes, names };
}

/** Returns the counts of each domain by bucket. Domains without any are missing. */
export async function loadDnsSparklines(
  { store, seconds, signal }: Asking,
  domainIds: readonly number[],
  window: DnsWindow,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const { table, at } = placeOf(window);
  const rows = await store.query<{ id: number; bucket: number; count: number }>(
    `SELECT domain_id AS id, ${numbered(at)} AS bucket, sum(count) AS count FROM ${table}
     WHERE domain_id IN {domains:Array(UInt64)} AND ${within(at)} GROUP BY id, bucket`,
    { domains: domainIds, ...timesOf(window) },
    { seconds, ...(signal && { signal }) },
  );
  const lines = new Map<number, number[]>();
  for (const { id, bucket, count } of rows) {
    const line = lines.get(id) ?? window.starts.map(() => 0);
    line[bucket] = count;
    lines.set(id, line);
  }
  return lines;
}

export interface DnsCountsBatch {
  readonly counts: readonly {
    readonly minute: Date;
    readonly domainId: number;
    readonly type: number;
    readonly rcode: number;
    readonly node: string;
    readonly count: number;
  }[];
  readonly names: readonly {
    /** YYYY-MM-DD. */
    readonly day: string;
    readonly domainId: number;
    readonly name: string;
    readonly count: number;
  }[];
}

export async function writeDnsCounts(store: Analytics, id: string, batch: DnsCountsBatch): Promise<void> {
  const counts = batch.counts.map(({ minute, domainId: domain_id, ...count }) => ({
    minute: minute.getTime() / 1000,
    domain_id,
    ...count,
  }));
  await store.insert('dns_minutely', counts, `dns-${id}`);
  const names = batch.names.map(({ domainId: domain_id, ...name }) => ({ domain_id, ...name }));
  await store.insert('dns_names_daily', names, `dns-names-${id}`);
}
