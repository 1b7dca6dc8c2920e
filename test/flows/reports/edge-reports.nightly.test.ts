// What edges report, into the real analytics store: every line once, whatever is away meanwhile.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { type EdgeApi, startEdgeApi } from '../../support/edge/edge-api.ts';
import { linesOf, packed, requestLine, sendBatch } from '../../support/edge/report-requests.ts';
import { until } from '../../support/tests/until.ts';

let engine: TestAnalytics;
let store: Analytics;
let api: EdgeApi;
let token: string;
const directory = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
beforeAll(async () => {
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  api = await startEdgeApi({ analytics: engine.url, reports: { directory } });
  await api.makeDomain('shop.example');
  token = await api.makeEdge('paris');
});
afterAll(async () => {
  await api?.stop();
  await store?.close();
  await engine?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Of one host: how many lines there are, how many different ones, and what the rollups count. */
async function stored(host: string) {
  const options = { seconds: 20 };
  const [raw] = await store.query<{ lines: number; uris: number; octets: number; visitors: number }>(
    'SELECT toUInt32(count()) AS lines, toUInt32(uniqExact(uri)) AS uris, toUInt32(sum(octets)) AS octets, toUInt32(uniqExact(visitor)) AS visitors FROM requests WHERE host = {host:String}',
    { host },
    options,
  );
  const [hourly] = await store.query<{ count: number; failures: number }>(
    'SELECT toUInt32(sum(count)) AS count, toUInt32(sum(failures)) AS failures FROM requests_hourly WHERE host = {host:String}',
    { host },
    options,
  );
  return { ...raw, ...hourly };
}

const send = (lines: readonly object[], batch: string = randomUUID()) =>
  sendBatch({ url: api.url, token, batch, ...packed(linesOf(lines)) });
const some = (host: string, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const isFailed = i % 10 === 0;
    return requestLine({
      host,
      uri: `/${from + i}?q=😀\u0000"`,
      client: `203.0.113.${i % 20}`,
      octets: 1,
      cache: i % 2 === 0 ? 'hit' : 'miss',
      ...(isFailed && { status: 504, reason: 'origin_timeout', rule: 7, websocket: true }),
    });
  });

it('all of a line gets into the store', async () => {
  const host = 'one.shop.example';
  const body = { name: 'one', type: 'A', destination: '192.0.2.7', proxied: true };
  expect((await api.ask('POST', '/domains/shop.example/records/', { body })).status).toBe(200);
  const [line] = some(host, 0, 1);
  await send([line as object]);
  const rows = await until(async () => {
    const found = await store.query(
      'SELECT host, method, uri, status, octets, ms, client, cache, rule, reason, websocket FROM requests WHERE host = {host:String}',
      { host },
      { seconds: 20 },
    );
    return found.length > 0 && found;
  });
  expect(rows).toEqual([
    {
      host,
      method: 'GET',
      uri: '/0?q=😀\u0000"',
      status: 504,
      octets: 1,
      ms: 10,
      client: '203.0.113.0/24',
      cache: 'hit',
      rule: 7,
      reason: 'origin_timeout',
      websocket: true,
    },
  ]);
});

it('every line counts once when batches are sent again and the store is killed meanwhile', async () => {
  const host = 'two.shop.example';
  // With a record of its own a host is counted under its own name.
  for (const name of ['two', 'after']) {
    const body = { name, type: 'A', destination: '192.0.2.7', proxied: true };
    expect((await api.ask('POST', '/domains/shop.example/records/', { body })).status).toBe(200);
  }
  for (let i = 0; i < 10; i++) {
    const batch = randomUUID();
    const lines = some(host, i * 500, 500);
    const answers = await Promise.all([send(lines, batch), send(lines, batch)]);
    for (const { status, body } of answers) expect([status, body.accepted]).toEqual([200, 500]);
    if (i === 3 || i === 6) engine.kill();
  }
  // Behind all that the spool has.
  await send(some('after.shop.example', 0, 1));
  await until(async () => (await stored('after.shop.example').catch(() => undefined))?.count === 1);
  const counts = { lines: 5000, uris: 5000, octets: 5000, visitors: 20, count: 5000, failures: 500 };
  expect(await stored(host)).toEqual(counts);
});
