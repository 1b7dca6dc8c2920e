// Responses about the requests of a domain equal a count of randomly generated log lines. Uses HTTP and the real
// engine.

import { describe, expect, it } from 'vitest';
import { type MadeRequest, ranked } from '../../support/analytics/made-requests.ts';
import { NAME, PERIODS, startRequestsApi, windowOf } from '../../support/analytics/requests-api.ts';
import { ownApi } from '../../support/api/api.ts';

const HOUR_MS = 3_600_000;

const api = ownApi(() => startRequestsApi());

interface Narrow {
  readonly hostname?: string;
  readonly path?: string;
}

const ask = (section: string, query: object = {}) =>
  api.ask('GET', `/analytics/${section}?${new URLSearchParams({ domain: NAME, ...query })}`, {
    as: 'viewer',
  });

/** Counts line by line, as the documentation defines it. */
function linesOf(
  { from, until }: { from: number; until: number },
  { hostname, path }: Narrow = {},
): MadeRequest[] {
  const isAsked = (host: string) => {
    if (hostname === undefined) return true;
    if (!hostname.includes('.')) return host === `${hostname}.${NAME}`;
    return host === hostname || host.endsWith(`.${hostname}`);
  };
  return api.lines.filter(
    (line) => line.at >= from && line.at < until && isAsked(line.host) && line.uri.startsWith(path ?? ''),
  );
}

const NARROWINGS: readonly Narrow[] = [
  {},
  { hostname: NAME },
  { hostname: `www.${NAME}` },
  { hostname: 'www' },
  { hostname: 'w' },
  { hostname: 'elsewhere.test' },
  { path: '/cart' },
  { path: '/x%y' },
  { hostname: 'api', path: '/' },
];
const CASES = (Object.keys(PERIODS) as (keyof typeof PERIODS)[]).flatMap((period) =>
  (period === '24h' || period === '30d' ? NARROWINGS : NARROWINGS.slice(0, 1)).map(
    (narrow) => [period, narrow] as const,
  ),
);

const isNear = (seen: number, exact: number, share: number, atLeast = 0) =>
  Math.abs(seen - exact) <= Math.max(exact * share, atLeast);
/** A quantile lies between two values, and either of them is correct. */
function isQuantile(seen: number, values: readonly number[], share: number): boolean {
  const sorted = values.toSorted((a, b) => a - b);
  const at = Math.floor(share * (sorted.length - 1));
  return sorted.slice(Math.max(0, at - 1), at + 3).some((value) => isNear(seen, value, 0.02, 1));
}
const visitorsOf = (lines: readonly MadeRequest[]) => new Set(lines.map(({ visitor }) => visitor)).size;
const volumeOf = (lines: readonly MadeRequest[]) => ({
  requests: lines.length,
  bandwidth: lines.reduce((sum, { octets }) => sum + octets, 0),
});

describe.each(CASES)('in %s, filtered by %o', (period, narrow) => {
  it('the summary equals a line-by-line count', async () => {
    const { status, body } = await ask('summary', { period, ...narrow });
    expect(status).toBe(200);
    const counted = linesOf(windowOf(period), narrow);
    const failed = counted.filter((line) => line.status >= 500 || line.status === 0).length;
    const times = counted.filter(({ websocket }) => !websocket).map(({ ms }) => ms);
    const { requests, bandwidth } = volumeOf(counted);
    expect([body.total_requests, body.total_bandwidth]).toEqual([requests, bandwidth]);
    expect(body.error_rate).toBeCloseTo(requests === 0 ? 0 : failed / requests, 12);
    const sum = times.reduce((total, ms) => total + ms, 0);
    expect(body.avg_response_time).toBeCloseTo(times.length === 0 ? 0 : sum / times.length, 6);
    expect(body.unique_visitors).toSatisfy((seen: number) => isNear(seen, visitorsOf(counted), 0.02));
    for (const [name, share] of [
      ['p90', 0.9],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const)
      expect(body[name]).toSatisfy((seen: number) =>
        times.length === 0 ? seen === 0 : isQuantile(seen, times, share),
      );
  });

  it('visitors are counted by bucket, and every bucket is listed', async () => {
    const { body } = await ask('visitors', { period, ...narrow });
    const { from, length } = windowOf(period);
    const starts = Array.from({ length: PERIODS[period] }, (_, i) => from + i * length);
    expect(body.data.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp))).toEqual(starts);
    for (const [i, start] of starts.entries()) {
      const exact = visitorsOf(linesOf({ from: start, until: start + length }, narrow));
      expect(body.data[i].count).toSatisfy((seen: number) => isNear(seen, exact, 0.02));
    }
  });

  it('the ten top URIs include queries, but no paths that end in a file extension', async () => {
    const { body } = await ask('top-uris', { period, ...narrow });
    const isFile = (uri: string) => /\.[^./]+$/.test(uri.split('?', 1)[0] as string);
    const pages = linesOf(windowOf(period), narrow).flatMap(({ uri }) => (isFile(uri) ? [] : [uri]));
    const rows = ranked(pages).slice(0, 10);
    expect(body).toEqual({ data: rows.map(([uri, request_count]) => ({ uri, request_count })) });
  });

  it.each([
    ['uris', ({ uri }: MadeRequest) => uri.split('?', 1)[0] as string],
    ['hosts', ({ host }: MadeRequest) => host],
    ['methods', ({ method }: MadeRequest) => method],
    ['statuses', ({ status }: MadeRequest) => (status === 0 ? 'none' : String(status))],
    ['clients', ({ client }: MadeRequest) => client],
  ] as const)('the ranking by %s is exact', async (metric, told) => {
    const { body } = await ask('top-requests', { period, metric, ...narrow });
    const rows = ranked(linesOf(windowOf(period), narrow).map(told)).slice(0, 100);
    expect(body).toEqual({ data: rows.map(([value, request_count]) => ({ value, request_count })) });
  });

  it('failed requests are counted by reason, with the responsible party', async () => {
    const { body } = await ask('unreachable-reasons', { period, ...narrow });
    const reasons = linesOf(windowOf(period), narrow).flatMap(({ reason }) =>
      reason === '' ? [] : [reason],
    );
    type Row = { reason: string; count: number };
    expect(body.data.map(({ reason, count }: Row) => [reason, count])).toEqual(ranked(reasons));
    for (const row of body.data)
      expect(row).toEqual({
        reason: expect.any(String),
        label: expect.stringMatching(/./),
        fault: expect.stringMatching(/^(client|origin|network|config)$/),
        meaning: expect.stringMatching(/./),
        count: expect.any(Number),
        status: expect.any(Number),
      });
  });

  it('requests and bandwidth are compared with the preceding period', async () => {
    const { status, body } = await ask('requests-compare', { period, ...narrow });
    if (period === '30d' && narrow.path !== undefined) {
      expect([status, body.fields[0].field]).toEqual([400, 'period']);
      return;
    }
    const { from, until } = windowOf(period);
    const hourEnds = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS;
    const length = until - from;
    expect(body).toEqual({
      current: volumeOf(linesOf({ from, until }, narrow)),
      previous: volumeOf(linesOf({ from: from - length, until: hourEnds - length }, narrow)),
    });
  });

  it('the log is sorted newest first', async () => {
    const { body } = await ask('logs', { period, limit: 20, ...narrow });
    const newest = linesOf(windowOf(period), narrow)
      .toSorted((a, b) => b.at - a.at)
      .slice(0, 20);
    const at = ({ timestamp }: { timestamp: string }) => Date.parse(timestamp);
    expect(body.data.map(at)).toEqual(newest.map((line) => line.at));
    const [line] = newest;
    if (line === undefined) return;
    expect(body.data).toContainEqual({
      timestamp: new Date(line.at).toISOString(),
      host: line.host,
      method: line.method,
      uri: line.uri,
      ...(line.status !== 0 && { status: line.status }),
      bytes: line.octets,
      response_time: line.ms,
      client: line.client,
      cache: line.cache,
      ...(line.rule !== 0 && { rule_id: line.rule }),
      ...(line.reason !== '' && { reason: line.reason }),
      websocket: line.websocket,
    });
  });
});

describe('texts of customers are compared literally', () => {
  const hostnames = ["' or 1=1 --", '%', '..', `%.${NAME}`, `_ww.${NAME}`, '{domainId:UInt64}'];
  const paths = ["/' or 1=1 --", '/_', '/*', "/\\' or 1=1 --", '/\\', '/{from:UInt32}', '/\n', '/\u{1F600}'];

  it.each([
    ...[...hostnames, "\\' or domain_id > 0 --", 'x'.repeat(255)].map((hostname) => ({ hostname })),
    ...paths.map((path) => ({ path, period: '30d' })),
  ])('%j matches nothing', async (query) => {
    for (const section of ['summary', 'logs']) {
      const { status, body } = await ask(section, query);
      expect([section, status, body.total_requests ?? body.data.length]).toEqual([section, 200, 0]);
    }
  });

  it.each(["/x'", '/%27'])('path %j matches as a literal prefix', async (path) => {
    const { body } = await ask('summary', { path, period: '30d' });
    expect(body.total_requests).toBe(linesOf(windowOf('30d'), { path }).length);
    expect(body.total_requests).toBeGreaterThan(0);
  });

  it('the hosts of another account do not match', async () => {
    for (const section of ['summary', 'logs']) {
      const { status, body } = await ask(section, { domain: 'quiet.test', hostname: NAME, period: '30d' });
      expect([status, body.total_requests ?? body.data.length]).toEqual([200, 0]);
    }
  });
});

it('the store rejected none of these queries', () => {
  expect(api.logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});
