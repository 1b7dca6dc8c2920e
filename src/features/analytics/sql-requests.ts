// Loads rankings, failure reasons, log lines and octets of requests from the analytics store.

import {
  ASKED_HOST,
  type AskedRequests,
  type AskedTable,
  type Asking,
  ask,
  chooseTable,
  conditionOf,
  valuesOf,
} from '../../analytics/requests/asked-requests.ts';

interface Ranked {
  readonly value: string;
  readonly requests: number;
}

/** Tables with a metric's counts. Days are aggregated; hours are read from the log lines. */
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

/** Ranks whole URIs including their queries. Paths that end in a file extension are left out. */
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

interface FailedRequests {
  readonly reason: string;
  readonly requests: number;
}

/** Sorted by count, highest first. Reasons are a closed list, so there are few rows. */
export async function loadReasons(
  asking: Asking,
  asked: AskedRequests,
  bucket: 'hour' | 'day',
): Promise<FailedRequests[]> {
  const table = await chooseTable(asking, asked, bucket === 'day' ? 'values_daily' : 'requests');
  const count = table === 'requests' ? 'count()' : 'sum(count)';
  const rows = await ask<{ reason: string; n: number | string }>(
    asking,
    `select reason, ${count} as n from ${table}
     where ${conditionOf(table, asked)} and reason <> '' group by reason order by n desc, reason`,
    valuesOf(asked),
  );
  return rows.map(({ reason, n }) => ({ reason, requests: Number(n) }));
}

interface RequestLine {
  readonly at: Date;
  readonly host: string;
  readonly method: string;
  readonly uri: string;
  /** 0 if the visitor received no response. */
  readonly status: number;
  readonly octets: number;
  readonly ms: number;
  readonly client: string;
  readonly cache: string;
  /** 0 if no rule answered. */
  readonly rule: number;
  /** Empty if the request did not fail. */
  readonly reason: string;
  readonly websocket: boolean;
}

type Row = Omit<RequestLine, 'at' | 'host' | 'octets' | 'websocket'> & {
  readonly moment: number | string;
  readonly name: string;
  readonly sent: number | string;
  readonly upgraded: number;
};

export async function loadLines(asking: Asking, asked: AskedRequests, limit: number): Promise<RequestLine[]> {
  const rows = await ask<Row>(
    asking,
    `select toUnixTimestamp64Milli(at) as moment, ${ASKED_HOST} as name, method, uri, status, octets as sent, ms, client, cache, rule,
       reason, toUInt8(websocket) as upgraded
     from requests where ${conditionOf('requests', asked)} order by at desc limit {limit:UInt32}`,
    { ...valuesOf(asked), limit },
  );
  return rows.map(({ moment, name, sent, upgraded, ...line }) => ({
    ...line,
    host: name,
    at: new Date(Number(moment)),
    octets: Number(sent),
    websocket: upgraded === 1,
  }));
}

interface OwnHours {
  readonly domainId: number;
  readonly from: Date;
  readonly until: Date;
}

const seconds = (at: Date) => at.getTime() / 1000;

/** Returns octets by domain id. Each domain may be given once; those without traffic are missing. */
export async function loadOctets(asking: Asking, domains: readonly OwnHours[]): Promise<Map<number, number>> {
  if (domains.length === 0) return new Map();
  const rows = await ask<{ id: number | string; sent: number | string }>(
    asking,
    `select domain_id as id, sum(octets) as sent from requests_hourly
     where domain_id in {ids:Array(UInt64)}
       and hour >= toDateTime({first:UInt32}, 'UTC') and hour < toDateTime({last:UInt32}, 'UTC')
       and toUnixTimestamp(hour) >= transform(domain_id, {ids:Array(UInt64)}, {from:Array(UInt32)}, toUInt32(4294967295))
       and toUnixTimestamp(hour) < transform(domain_id, {ids:Array(UInt64)}, {until:Array(UInt32)}, toUInt32(0))
     group by id`,
    {
      ids: domains.map(({ domainId }) => domainId),
      from: domains.map(({ from }) => seconds(from)),
      until: domains.map(({ until }) => seconds(until)),
      first: Math.min(...domains.map(({ from }) => seconds(from))),
      last: Math.max(...domains.map(({ until }) => seconds(until))),
    },
  );
  return new Map(rows.map(({ id, sent }) => [Number(id), Number(sent)]));
}
