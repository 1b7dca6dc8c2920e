// Hosts that visitors make up under a wildcard: they use no rows in tables that are kept long, and queries about them
// match a line-by-line count.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import type { AskedRequests } from '../../../src/analytics/requests/asked-requests.ts';
import { loadSummary, loadVisitors, needsLines } from '../../../src/analytics/requests/load-summary.ts';
import { readNarrowing } from '../../../src/edge/analytics/narrowing.ts';
import { windowOf } from '../../../src/edge/analytics/window.ts';
import {
  loadLines,
  loadRanking,
  loadReasons,
  loadTopUris,
} from '../../../src/features/analytics/sql-requests.ts';
import { OriginMinutes } from '../../../src/features/uptime/minutes.ts';
import { ranked } from '../../support/analytics/made-requests.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';

const DOMAIN = 5;
const OLDER = 6;
const APEX = 'shop.test';
const MADE_UP = 3000;
const HOUR = Math.floor(Date.now() / 3_600_000) * 3_600_000;
let engine: TestAnalytics;
let store: Analytics;

interface Made {
  readonly host: string;
  readonly wildcard?: string;
  readonly uri?: string;
  readonly status?: number;
  readonly reason?: string;
}
const LINES: readonly Made[] = [
  ...Array.from({ length: MADE_UP }, (_, n) => ({ host: `h${n}.${APEX}`, wildcard: `*.${APEX}` })),
  { host: `x.h7.${APEX}`, wildcard: `*.${APEX}` },
  { host: `a.deep.${APEX}`, wildcard: `*.deep.${APEX}`, status: 502, reason: 'no_origin' },
  { host: `b.deep.${APEX}`, wildcard: `*.deep.${APEX}` },
  { host: `c.b.deep.${APEX}`, wildcard: `*.deep.${APEX}` },
  { host: `www.${APEX}` },
  { host: `www.${APEX}`, uri: '/about' },
  { host: APEX },
];

async function report(domain_id: number, lines: readonly Made[]): Promise<void> {
  const rows = lines.map(({ wildcard, host, ...line }, n) => ({
    at: new Date(HOUR + n).toISOString().slice(0, -1).replace('T', ' '),
    domain_id,
    edge_id: 1,
    method: 'GET',
    uri: '/',
    status: 200,
    octets: 10,
    ms: 1,
    client: '192.0.2.0/24',
    visitor: String(n % 50),
    ...line,
    host: wildcard ?? host,
    ...(wildcard !== undefined && { asked_host: host }),
  }));
  await store.insert('requests', rows, `of-${domain_id}`);
}

beforeAll(async () => {
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  await report(DOMAIN, LINES);
  await report(
    OLDER,
    LINES.map(({ wildcard: _, ...line }) => line),
  );
});
afterAll(async () => {
  await store?.close();
  await engine?.stop();
});

const asking = () => ({ store, seconds: 20 });
function asked(hostname: string, domainId = DOMAIN): AskedRequests {
  const { from, until } = windowOf('30d', new Date());
  const narrowing = readNarrowing(APEX, { hostname });
  if ('problem' in narrowing) throw new Error(narrowing.problem.error);
  return { domainId, from, until, ...narrowing };
}
const linesOf = (hostname: string) =>
  LINES.filter(({ host }) => {
    if (hostname === '') return true;
    if (!hostname.includes('.')) return host === `${hostname}.${APEX}`;
    return host === hostname || host.endsWith(`.${hostname}`);
  });

describe('made-up hosts', () => {
  it.each([
    ['requests_hourly', 4],
    ['values_daily', 5],
    ['uris_daily', 5],
    ['origins_minutely', 4],
  ])('have no rows of their own in %s', async (table, wanted) => {
    const sql = `SELECT count() AS n FROM ${table} FINAL WHERE domain_id = {id:UInt64}`;
    const [row] = await store.query<{ n: number }>(sql, { id: DOMAIN }, { seconds: 10 });
    expect(Number(row?.n)).toBe(wanted);
  });

  it('do not hide an outage of other hosts', async () => {
    const hosts = await new OriginMinutes(store).hosts({
      minute: HOUR / 60_000,
      after: 0,
      last: DOMAIN,
      suspects: [],
      limit: 10,
    });
    expect(hosts.map(({ host, requests, failures }) => [host, requests, failures])).toEqual([
      [`*.${APEX}`, MADE_UP + 1, 0],
      [`*.deep.${APEX}`, 3, 1],
      [`www.${APEX}`, 2, 0],
      [APEX, 1, 0],
    ]);
  });
});

describe.each([
  '',
  APEX,
  'www',
  `www.${APEX}`,
  'h7',
  `h7.${APEX}`,
  `deep.${APEX}`,
  `b.deep.${APEX}`,
  'deep',
  `*.${APEX}`,
  'nobody',
])('hostname %j', (hostname) => {
  const lines = linesOf(hostname);

  it('has the requests, visitors and reasons of a line-by-line count', async () => {
    const { requests, octets, visitors } = await loadSummary(asking(), asked(hostname));
    expect([requests, octets]).toEqual([lines.length, lines.length * 10]);
    const people = await loadVisitors(asking(), asked(hostname), 'day');
    expect([...people.values()]).toEqual(lines.length === 0 ? [] : [visitors]);
    const reasons = await loadReasons(asking(), asked(hostname), 'day');
    const failed = lines.flatMap(({ reason }) => reason ?? []);
    expect(reasons.map(({ reason, requests }) => [reason, requests])).toEqual(ranked(failed));
  });

  it.each([
    ['hosts', ({ host }: Made) => host],
    ['uris', ({ uri = '/' }: Made) => uri],
    ['methods', () => 'GET'],
    ['statuses', ({ status = 200 }: Made) => String(status)],
  ] as const)('has its own ranking by %s', async (metric, told) => {
    const rows = await loadRanking(asking(), asked(hostname), { metric, bucket: 'day', limit: 100 });
    const wanted = ranked(lines.map(told)).slice(0, 100);
    expect(rows.map(({ value, requests }) => [value, requests])).toEqual(wanted);
  });

  it('has its own log lines and pages', async () => {
    const rows = await loadLines(asking(), asked(hostname), 5000);
    expect(rows.map(({ host }) => host).sort()).toEqual(lines.map(({ host }) => host).sort());
    const pages = await loadTopUris(asking(), asked(hostname), { bucket: 'day', limit: 10 });
    const wanted = ranked(lines.map(({ uri = '/' }) => uri));
    expect(pages.map(({ value, requests }) => [value, requests])).toEqual(wanted);
  });
});

it('the log lines are read only if a rollup is not sufficient', async () => {
  const needs = (hostname: string, domainId = DOMAIN) => needsLines(asking(), asked(hostname, domainId));
  expect([await needs(''), await needs(APEX), await needs(`elsewhere.test`)]).toEqual([false, false, false]);
  expect([await needs('h7'), await needs(`b.deep.${APEX}`)]).toEqual([true, true]);
  expect([await needs('h7', OLDER), await needs('www', OLDER)]).toEqual([false, false]);
});
