// What was asked for most: exact counts, the largest first, equal ones by their text.

import {
  ASKED_HOST,
  type AskedRequests,
  type AskedTable,
  type Asking,
  ask,
  conditionOf,
  valuesOf,
} from './asked-requests.ts';
import { chooseTable } from './choose-table.ts';

interface Ranked {
  readonly value: string;
  readonly requests: number;
}

/** Days are counted ahead; hours, and what the counts of days do not tell, are read from the lines. */
interface Place {
  readonly ofHours: AskedTable;
  readonly ofDays: AskedTable;
}

const IN_URIS: Place = { ofHours: 'requests', ofDays: 'uris_daily' };
const IN_VALUES: Place = { ofHours: 'requests', ofDays: 'values_daily' };

const METRICS = {
  uris: { value: 'cutQueryString(uri)', place: IN_URIS },
  hosts: { value: 'host', place: { ofHours: 'requests_hourly', ofDays: 'requests_hourly' } },
  methods: { value: 'method', place: IN_VALUES },
  statuses: { value: `if(status = 0, 'none', toString(status))`, place: IN_VALUES },
  clients: { value: 'client', place: { ofHours: 'requests', ofDays: 'requests' } },
} as const satisfies Record<string, { readonly value: string; readonly place: Place }>;

type RankedMetric = keyof typeof METRICS;
export const RANKED_METRICS = Object.keys(METRICS) as [RankedMetric, ...RankedMetric[]];

export async function loadRanking(
  asking: Asking,
  asked: AskedRequests,
  { metric, bucket, limit }: { metric: RankedMetric; bucket: 'hour' | 'day'; limit: number },
): Promise<Ranked[]> {
  const { value, place } = METRICS[metric];
  const rollup = rollupOf(place, bucket);
  const table = await chooseTable(asking, asked, rollup, { names: metric === 'hosts' });
  const ofTable = metric === 'hosts' && table === 'requests' ? ASKED_HOST : value;
  return await rank(asking, asked, { value: ofTable, table, limit });
}

/** Whole URIs with their queries, without files: a path that ends with a dot and more is none of a page. */
export async function loadTopUris(
  asking: Asking,
  asked: AskedRequests,
  { bucket, limit }: { bucket: 'hour' | 'day'; limit: number },
): Promise<Ranked[]> {
  return await rank(asking, asked, {
    value: 'uri',
    table: await chooseTable(asking, asked, rollupOf(IN_URIS, bucket)),
    limit,
    also: `not match(cutQueryString(uri), '\\\\.[^./]+$')`,
  });
}

function rollupOf({ ofHours, ofDays }: Place, bucket: 'hour' | 'day'): AskedTable {
  return bucket === 'hour' ? ofHours : ofDays;
}

interface Ranking {
  readonly value: string;
  readonly table: AskedTable;
  readonly limit: number;
  readonly also?: string;
}

async function rank(
  asking: Asking,
  asked: AskedRequests,
  { value, table, limit, also }: Ranking,
): Promise<Ranked[]> {
  const count = table === 'requests' ? 'count()' : 'sum(count)';
  const rows = await ask<{ value: string; n: number | string }>(
    asking,
    `select ${value} as value, ${count} as n from ${table}
     where ${conditionOf(table, asked)}${also === undefined ? '' : ` and ${also}`}
     group by value order by n desc, value limit {limit:UInt32}`,
    { ...valuesOf(asked), limit },
  );
  return rows.map(({ value, n }) => ({ value, requests: Number(n) }));
}
