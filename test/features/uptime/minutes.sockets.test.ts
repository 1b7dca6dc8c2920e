// Results of requests to origins, as the store aggregates raw lines, compared with a count of the same lines.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { OriginMinutes } from '../../../src/features/uptime/minutes.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { storedRequest } from '../../support/analytics/stored-request.ts';

let engine: TestAnalytics;
let store: Analytics;
let minutes: OriginMinutes;
const NOW = Math.floor(Date.now() / 60_000) - 10;
const ALL = { after: 0, last: Number.MAX_SAFE_INTEGER, suspects: [], limit: 100 };

beforeAll(async () => {
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  minutes = new OriginMinutes(store);
});
afterAll(async () => {
  await store?.close();
  await engine?.stop();
});

let batches = 0;
async function report(
  domain_id: number,
  host: string,
  lines: readonly object[],
  minute = NOW,
): Promise<void> {
  const rows = lines.map((line, i) =>
    storedRequest(new Date(minute * 60_000 + (i % 60) * 1000), { domain_id, host, ...line }),
  );
  await store.insert('requests', rows, `test-${batches++}`);
}

it('returns no minute without data', async () => {
  expect(await minutes.newest()).toBeUndefined();
  expect(await minutes.hosts({ minute: NOW, ...ALL })).toEqual([]);
});

it('counts requests to origins, and those that failed', async () => {
  await report(1, 'www.shop.test', [
    { status: 200 },
    { status: 404, cache: 'miss' },
    { status: 304, cache: 'revalidated' },
    { status: 500 },
    { status: 0 },
    { status: 502, reason: 'origin_timeout' },
    { status: 502, reason: 'no_origin' },
    // no request to an origin
    { status: 200, cache: 'hit' },
    { status: 200, cache: 'stale' },
    { status: 403, reason: 'rule_blocked' },
    { status: 0, reason: 'client_closed' },
    { status: 500, reason: 'edge_fault' },
  ]);
  await report(1, 'www.shop.test', [{ status: 503 }]);
  await report(1, 'www.shop.test', [{ status: 503 }], NOW + 1);
  expect(await minutes.hosts({ minute: NOW, ...ALL })).toEqual([
    { domainId: 1, host: 'www.shop.test', requests: 8, failures: 5 },
  ]);
  expect(await minutes.newest()).toBe(NOW + 1);
});

it('lists domains with failures, and suspects, page by page', async () => {
  const minute = NOW + 2;
  await report(2, 'a.test', [{}, {}], minute);
  await report(3, 'b.test', [{ status: 500 }, {}], minute);
  await report(3, 'c.test', [{}], minute);
  await report(4, 'd.test', [{ status: 500 }], minute);
  const ids = async (asked: object) =>
    (await minutes.hosts({ minute, ...ALL, ...asked })).map(({ host }) => host);
  expect(await ids({})).toEqual(['b.test', 'c.test', 'd.test']);
  expect(await ids({ suspects: [2, 9] })).toEqual(['a.test', 'b.test', 'c.test', 'd.test']);
  expect(await ids({ suspects: [2], limit: 2 })).toEqual(['a.test', 'b.test', 'c.test']);
  expect(await ids({ after: 3 })).toEqual(['d.test']);
  expect(await ids({ last: 3 })).toEqual(['b.test', 'c.test']);
});

it('reads the hundred busiest hosts of a domain', async () => {
  const minute = NOW + 3;
  for (let n = 0; n < 3; n++) await report(5, 'busy.test', [{ status: 500 }], minute);
  const lines = Array.from({ length: 150 }, (_, n) => ({ host: `h${n}.made-up.test`, status: 500 }));
  await report(5, '', lines, minute);
  const hosts = await minutes.hosts({ minute, ...ALL });
  expect([hosts.length, hosts[0]]).toEqual([
    100,
    { domainId: 5, host: 'busy.test', requests: 3, failures: 3 },
  ]);
});

it('reports an unavailable store, and counts a repeated batch once', async () => {
  const minute = NOW + 4;
  await report(6, 'once.test', [{ status: 500 }], minute);
  batches--;
  await report(6, 'once.test', [{ status: 500 }], minute);
  expect(await minutes.hosts({ minute, ...ALL })).toMatchObject([{ requests: 1 }]);
  await engine.stop();
  await expect(minutes.hosts({ minute, ...ALL })).rejects.toMatchObject({
    name: 'AnalyticsFault',
    kind: 'away',
  });
});
