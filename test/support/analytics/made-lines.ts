// Generates request lines from a seed, and compares a plain count of them with the rollups.

import type { Analytics } from '../../../src/analytics/open-analytics.ts';
import { type MadeRequest, makeRequests } from './made-requests.ts';

export type Line = Omit<MadeRequest, 'at'> & { readonly at: string };

const DAY_MS = 86_400_000;

/** Returns lines of the last whole days. */
export function madeLines({
  domainId,
  count,
  days,
}: {
  readonly domainId: number;
  readonly count: number;
  readonly days: number;
}): Line[] {
  const until = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const wanted = {
    domainId,
    domain: 'made.example',
    count,
    from: until - days * DAY_MS,
    until,
    seed: domainId,
  };
  return makeRequests(wanted).map((line) => ({ ...line, at: new Date(line.at).toISOString() }));
}

interface Rollups {
  readonly hours: readonly string[];
  readonly values: readonly string[];
  readonly uris: readonly string[];
  readonly visitors: number;
  readonly median: number;
}

export function bruteForce(lines: readonly Line[]): Rollups {
  const times = lines
    .filter(({ websocket }) => !websocket)
    .map(({ ms }) => ms)
    .sort((a, b) => a - b);
  return {
    hours: sums(
      lines,
      ({ at, host }) => [`${at.slice(0, 13)}`, host],
      (line) => [
        1,
        line.octets,
        line.status === 0 || line.status >= 500 ? 1 : 0,
        line.websocket ? 0 : line.ms,
        line.websocket ? 0 : 1,
      ],
    ),
    values: sums(
      lines,
      ({ at, host, method, status, cache, reason }) => [at.slice(0, 10), host, method, status, cache, reason],
      ({ octets }) => [1, octets],
    ),
    uris: sums(
      lines,
      ({ at, host, uri }) => [at.slice(0, 10), host, uri],
      () => [1],
    ),
    visitors: new Set(lines.map(({ visitor }) => visitor)).size,
    median: times[Math.floor(times.length / 2)] as number,
  };
}

function sums(
  lines: readonly Line[],
  keyOf: (line: Line) => readonly unknown[],
  of: (line: Line) => readonly number[],
): string[] {
  const found = new Map<string, number[]>();
  for (const line of lines) {
    const key = JSON.stringify(keyOf(line));
    const before = found.get(key);
    found.set(
      key,
      of(line).map((value, index) => value + (before?.[index] ?? 0)),
    );
  }
  return [...found].map(([key, values]) => `${key} ${values.join(' ')}`).sort();
}

export async function rolledUp(analytics: Analytics, domainId: number): Promise<Rollups> {
  const ask = async <R>(sql: string) => await analytics.query<R>(sql, { id: domainId }, { seconds: 30 });
  const lines = async (sql: string) => {
    const rows = await ask<{ k: unknown[]; v: number[] }>(sql);
    return rows.map(({ k, v }) => `${JSON.stringify(k)} ${v.join(' ')}`).sort();
  };
  const hour = "formatDateTime(hour, '%Y-%m-%dT%H')";
  const [whole] = await ask<{ visitors: number; times: number[] }>(
    `SELECT toUInt64(uniqCombined64Merge(15)(visitors)) AS visitors,
       quantilesDDMerge(0.01, 0.5, 0.9, 0.95, 0.99)(times) AS times FROM requests_hourly WHERE domain_id = {id:UInt64}`,
  );
  return {
    hours: await lines(
      `SELECT [${hour}, host] AS k, [sum(count), sum(octets), sum(failures), sum(ms_sum), sum(ms_count)] AS v
       FROM requests_hourly WHERE domain_id = {id:UInt64} GROUP BY hour, host`,
    ),
    values: await lines(
      `SELECT tuple(toString(day), host, method, status, cache, reason) AS k, [sum(count), sum(octets)] AS v
       FROM values_daily WHERE domain_id = {id:UInt64} GROUP BY day, host, method, status, cache, reason`,
    ),
    uris: await lines(
      `SELECT [toString(day), host, uri] AS k, [sum(count)] AS v
       FROM uris_daily WHERE domain_id = {id:UInt64} GROUP BY day, host, uri`,
    ),
    visitors: whole?.visitors as number,
    median: whole?.times[0] as number,
  };
}
