// Loads totals of requests, and the traffic of a quota period.

import { trafficPeriod } from '../../billing/quota.ts';
import { hoursThatEndIn } from '../../edge/analytics/window.ts';
import {
  type AskedRequests,
  type Asking,
  ask,
  chooseTable,
  conditionOf,
  valuesOf,
} from './asked-requests.ts';

export interface TrafficHours {
  readonly start: Date;
  /** Undefined if the quota is never reset. */
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

/** An integer as JSON has it: 64-bit integers may be texts. */
type Count = number | string;

interface RequestSummary {
  readonly requests: number;
  readonly octets: number;
  readonly visitors: number;
  /** With a status of 500 or more, or without a response. */
  readonly failures: number;
  /** Milliseconds, without WebSocket. */
  readonly times: {
    readonly average: number;
    readonly p90: number;
    readonly p95: number;
    readonly p99: number;
  };
}

const FROM_HOURS = `sum(count) as n, sum(octets) as sent, uniqCombined64Merge(15)(visitors) as people, sum(failures) as failed,
  sum(ms_count) as timed, sum(ms_sum) as spent, quantilesDDMerge(0.01, 0.5, 0.9, 0.95, 0.99)(times) as slow`;
const FROM_LINES = `count() as n, sum(octets) as sent, uniqCombined64(15)(visitor) as people,
  countIf(status >= 500 or status = 0) as failed, countIf(not websocket) as timed, sumIf(ms, not websocket) as spent,
  quantilesDDIf(0.01, 0.5, 0.9, 0.95, 0.99)(ms, not websocket) as slow`;

export async function loadSummary(asking: Asking, asked: AskedRequests): Promise<RequestSummary> {
  const table = await chooseTable(asking, asked, 'requests_hourly');
  const columns = table === 'requests' ? FROM_LINES : FROM_HOURS;
  interface Row {
    readonly n: Count;
    readonly sent: Count;
    readonly people: Count;
    readonly failed: Count;
    readonly timed: Count;
    readonly spent: Count;
    /** Null if there are no values. */
    readonly slow: readonly (number | null)[];
  }
  const [row] = await ask<Row>(
    asking,
    `select ${columns} from ${table} where ${conditionOf(table, asked)}`,
    valuesOf(asked),
  );
  const [, p90 = 0, p95 = 0, p99 = 0] = (row?.slow ?? []).map(Number);
  const timed = Number(row?.timed ?? 0);
  return {
    requests: Number(row?.n ?? 0),
    octets: Number(row?.sent ?? 0),
    visitors: Number(row?.people ?? 0),
    failures: Number(row?.failed ?? 0),
    times: { average: timed === 0 ? 0 : Number(row?.spent) / timed, p90, p95, p99 },
  };
}

/** Returns the number of distinct visitors of each bucket that has any, by the start of the bucket in milliseconds. */
export async function loadVisitors(
  asking: Asking,
  asked: AskedRequests,
  bucket: 'hour' | 'day',
): Promise<Map<number, number>> {
  const table = await chooseTable(asking, asked, 'requests_hourly');
  const [people, at] =
    table === 'requests'
      ? (['uniqCombined64(15)(visitor)', 'at'] as const)
      : (['uniqCombined64Merge(15)(visitors)', 'hour'] as const);
  const start = bucket === 'hour' ? `toStartOfHour(${at}, 'UTC')` : `toDateTime(toDate(${at}, 'UTC'), 'UTC')`;
  const rows = await ask<{ start: Count; people: Count }>(
    asking,
    `select toUnixTimestamp(${start}) as start, ${people} as people
     from ${table} where ${conditionOf(table, asked)} group by start`,
    valuesOf(asked),
  );
  return new Map(rows.map(({ start, people }) => [Number(start) * 1000, Number(people)]));
}

/** True if only the log lines have the volume. They are kept for 30 days. */
export async function needsLines(asking: Asking, asked: AskedRequests): Promise<boolean> {
  return (await chooseTable(asking, asked, 'requests_hourly')) === 'requests';
}

/** Exact at any time and cheap, so it is used to compare periods. */
export async function loadVolume(
  asking: Asking,
  asked: AskedRequests,
): Promise<Pick<RequestSummary, 'requests' | 'octets'>> {
  const table = await chooseTable(asking, asked, 'requests_hourly');
  const count = table === 'requests' ? 'count()' : 'sum(count)';
  const [row] = await ask<{ n: Count; sent: Count }>(
    asking,
    `select ${count} as n, sum(octets) as sent from ${table} where ${conditionOf(table, asked)}`,
    valuesOf(asked),
  );
  return { requests: Number(row?.n ?? 0), octets: Number(row?.sent ?? 0) };
}
