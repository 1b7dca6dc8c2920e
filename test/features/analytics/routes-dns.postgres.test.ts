// GET /analytics/dns against the embedded engine: the counts that nodes reported, by time, type, rcode and node.

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { type DnsCountsBatch, writeDnsCounts } from '../../../src/features/analytics/sql-dns.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let engine: TestAnalytics;
let store: Analytics;
const api = ownApi(async () => {
  engine = await startAnalytics();
  return await startTestApi({ analytics: engine.url });
});
let shop: { readonly id: number };
let quiet: { readonly id: number };
let now: number;

beforeAll(async () => {
  // so that the hour does not end during the tests
  const leftMs = HOUR - (Date.now() % HOUR);
  if (leftMs < MINUTE) await pause(leftMs);
  store = openAnalytics(engine.url);
  now = Date.now();
  shop = await api.makeDomain('shop.test');
  quiet = await api.makeDomain('quiet.test');
  const at = (ms: number) => new Date(Math.floor(ms / MINUTE) * MINUTE);
  const row = { domainId: shop.id, type: 1, rcode: 0, node: 'ams1' };
  const counts: DnsCountsBatch['counts'] = [
    { ...row, minute: at(now), count: 5 },
    { ...row, minute: at(now), node: 'fra1', type: 28, rcode: 3, count: 2 },
    { ...row, minute: at(now - 2 * HOUR), type: 0, count: 11 },
    { ...row, minute: at(now - 49 * HOUR), count: 100 },
    { ...row, minute: at(now), domainId: 999_999, count: 1000 },
  ];
  const day = new Date(now).toISOString().slice(0, 10);
  const names = ['www.shop.test.', 'shop.test.', ...Array.from({ length: 20 }, (_, i) => `x${i}.shop.test.`)];
  await writeDnsCounts(store, 'first', {
    counts,
    names: names.map((name, i) => ({ day, domainId: shop.id, name, count: 256 * (100 - i) })),
  });
});
afterAll(async () => {
  await store?.close();
  await engine?.stop();
});

const ask = (query: string, as = 'viewer') => api.ask('GET', `/analytics/dns?${query}`, { as });

describe('the answers for one domain', () => {
  it('are returned by hour, with sums by type, rcode and node, and the most queried names', async () => {
    const { status, body } = await ask('domain=shop.test');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      bucket: 'hour',
      total: 18,
      types: { A: 5, AAAA: 2, other: 11 },
      rcodes: { NOERROR: 16, NXDOMAIN: 2 },
      nodes: [
        { node: 'ams1', count: 16 },
        { node: 'fra1', count: 2 },
      ],
    });
    expect(body.names).toHaveLength(10);
    expect(body.names[0]).toEqual({ name: 'www.shop.test.', count: 25_600 });
    expect(body.data).toHaveLength(24);
    expect(body.data.at(-1)).toEqual({
      timestamp: new Date(Math.floor(now / HOUR) * HOUR).toISOString(),
      ...{ count: 7, types: { A: 5, AAAA: 2 }, rcodes: { NOERROR: 5, NXDOMAIN: 2 } },
    });
    expect(body.data.at(-3)).toMatchObject({ count: 11 });
    expect(body.data.at(-2)).toMatchObject({ count: 0, types: {}, rcodes: {} });
  });

  it('are returned by minute and by day', async () => {
    const minutes = (await ask(`domain=shop.test&period=1h`)).body;
    expect([minutes.bucket, minutes.total, minutes.data.length]).toEqual(['minute', 7, 60]);
    const days = (await ask('domain=shop.test&period=7d')).body;
    expect([days.bucket, days.total, days.data.length]).toEqual(['day', 118, 7]);
  });

  it('are 0 without queries', async () => {
    const { body } = await ask('domain=quiet.test&period=3h');
    expect(body).toMatchObject({ total: 0, types: {}, rcodes: {}, nodes: [], names: [] });
    expect(body.data.map(({ count }: { count: number }) => count)).toEqual([0, 0, 0]);
  });
});

describe('the counts of several domains', () => {
  it('are returned in the order of the query', async () => {
    const { status, body } = await ask('domains=quiet.test,shop.test&period=3h');
    expect(status).toBe(200);
    expect(body.timestamps).toHaveLength(3);
    expect(body.domains).toEqual([
      { id: quiet.id, domain: 'quiet.test', total: 0, counts: [0, 0, 0] },
      { id: shop.id, domain: 'shop.test', total: 18, counts: [11, 0, 7] },
    ]);
  });

  it('are a 404 that names the domain if one of them is not visible', async () => {
    const { status, body } = await ask('domains=shop.test,other.test');
    expect([status, body.error]).toEqual([404, 'domain other.test not found']);
    expect((await ask('domains=shop.test', 'stranger')).status).toBe(404);
    expect((await ask('domains=shop.test,')).status).toBe(404);
  });

  it('are limited to a hundred domains', async () => {
    const many = (count: number) => `domains=${Array.from({ length: count }, () => 'shop.test').join(',')}`;
    expect((await ask(many(100))).body.domains).toHaveLength(100);
    const { status, body } = await ask(many(101));
    expect([status, body.fields]).toEqual([400, [{ field: 'domains', error: 'at most 100 domains' }]]);
  });
});

it('reports wrong parameters by their name', async () => {
  for (const query of ['', 'domain=shop.test&domains=shop.test'])
    expect((await ask(query)).body.fields).toEqual([
      { field: 'domain', error: 'specify either domain or domains' },
    ]);
  for (const query of ['domain=shop.test&domain=quiet.test', 'domain=shop.test&period=2h'])
    expect((await ask(query)).status).toBe(400);
  expect((await ask('domain=elsewhere.test')).status).toBe(404);
  expect((await ask('domain=shop.test', 'stranger')).status).toBe(404);
});

it('the queries of an account wait in a queue, and too many are a 429', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask('domain=shop.test')));
  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 429]);
  expect((await ask('domain=shop.test')).status).toBe(200);
});
