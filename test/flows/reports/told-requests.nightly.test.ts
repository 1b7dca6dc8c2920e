// What edges report over HTTP, as the owners of domains are told it over HTTP: each rule of the answers by lines made for it.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { type EdgeApi, startEdgeApi } from '../../support/edge/edge-api.ts';
import { linesOf, packed, requestLine, sendBatch } from '../../support/edge/report-requests.ts';
import { until } from '../../support/tests/until.ts';

const NAME = 'shop.test';
const HOUR_MS = 3_600_000;

let engine: TestAnalytics;
let api: EdgeApi;
let token: string;
beforeAll(async () => {
  engine = await startAnalytics();
  api = await startEdgeApi({ analytics: engine.url });
  await api.makeDomain(NAME);
  token = await api.makeEdge('fra');
});
afterAll(async () => {
  await api?.stop();
  await engine?.stop();
});

const ask = (section: string, query: Record<string, string> = {}) =>
  api.ask('GET', `/analytics/${section}?${new URLSearchParams({ domain: NAME, ...query })}`, {
    as: 'viewer',
  });
const told = async (section: string, query: Record<string, string> = {}) => {
  const { status, body } = await ask(section, query);
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
};

/** Each test has a host of its own. Resolves when its lines are in the store. */
async function report(label: string, lines: readonly object[]): Promise<void> {
  const whole = lines.map((line) => requestLine({ host: `${label}.${NAME}`, ...line }));
  const { status, body } = await sendBatch({
    url: api.url,
    token,
    batch: randomUUID(),
    ...packed(linesOf(whole)),
  });
  expect([status, body.accepted]).toEqual([200, lines.length]);
  const arrived = async () =>
    (await told('summary', { hostname: `${label}.${NAME}` })).total_requests >= lines.length;
  await until(arrived, `the lines of ${label} are in the store`);
}
const many = <T>(count: number, line: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => line(i));

describe('visitors', () => {
  it('are different pairs of address and TLS fingerprint, over plain HTTP addresses', async () => {
    const client = '203.0.113.9';
    await report('pairs', [
      { client, tls_fingerprint: 'x' },
      { client, tls_fingerprint: 'x', uri: '/again' },
      { client, tls_fingerprint: 'y' },
      { client },
      { client, uri: '/again' },
      { client: '203.0.113.10' },
      { client: '2001:db8::1' },
      { client: '2001:db8::2' },
    ]);
    expect((await told('summary', { hostname: 'pairs' })).unique_visitors).toBe(6);
  });

  it('do not add up over buckets: who comes in two hours counts in both, and once in all', async () => {
    const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const before = hour - HOUR_MS;
    const at = (time: number) => new Date(time).toISOString();
    await report('twice', [
      { at: at(before + 1) },
      { at: at(hour - 1), client: '198.51.100.1' },
      { at: at(hour) },
    ]);
    const { data } = await told('visitors', { hostname: 'twice' });
    const came = data.filter(({ count }: { count: number }) => count > 0);
    expect(came).toEqual([
      { timestamp: at(before), count: 2 },
      { timestamp: at(hour), count: 1 },
    ]);
    expect((await told('summary', { hostname: 'twice' })).unique_visitors).toBe(2);
  });
});

describe('the summary', () => {
  it('has requests and bytes of all lines, and times of those without WebSocket', async () => {
    await report('times', [
      ...many(99, () => ({ ms: 100, octets: 10 })),
      ...many(99, () => ({ ms: 500_000, octets: 10, websocket: true })),
      { ms: 300, octets: 5_000_000_000 },
    ]);
    const { total_requests, total_bandwidth, avg_response_time, p90, p95, p99 } = await told('summary', {
      hostname: 'times',
    });
    expect([total_requests, total_bandwidth]).toEqual([199, 5_000_001_980]);
    expect(avg_response_time).toBe(102);
    for (const time of [p90, p95]) expect(Math.abs(time - 100)).toBeLessThanOrEqual(2);
    expect(p99).toBeLessThanOrEqual(306);
  });

  it('has as error_rate the share with a status of 500 and above, or none', async () => {
    await report(
      'errors',
      [200, 301, 404, 499, 500, 599, 0, 200].map((status) => ({ status })),
    );
    expect((await told('summary', { hostname: 'errors' })).error_rate).toBe(3 / 8);
  });
});

describe('rankings', () => {
  it('top-uris are ten whole URIs with their query, without those whose path ends in a dot-extension', async () => {
    const pages = many(14, (i) => many(20 - i, () => ({ uri: `/p?n=${i}` }))).flat();
    const files = ['/a.css', '/index.html', '/x.php?y=1', '/.well-known/a.txt', '/a.tar.gz'];
    const kept = ['/p?f=a.css', '/v1.2/list', '/a.b/', '/end.'];
    await report('pages', [
      ...pages,
      ...many(30, (i) => files.map((uri) => ({ uri: uri.replace('y=1', `y=${i % 2}`) }))).flat(),
      ...kept.flatMap((uri, k) => many(40 - k, () => ({ uri }))),
    ]);
    const { data } = await told('top-uris', { hostname: 'pages' });
    expect(data).toEqual([
      ...kept.map((uri, k) => ({ uri, request_count: 40 - k })),
      ...many(6, (i) => ({ uri: `/p?n=${i}`, request_count: 20 - i })),
    ]);
  });

  it.each(['limit=5', 'offset=10', 'page=2'])('top-uris know neither limit nor pages: %s', async (query) => {
    const [name = '', value = ''] = query.split('=');
    const { status, body } = await ask('top-uris', { [name]: value });
    expect([status, body.fields]).toEqual([400, [{ field: name, error: 'unknown parameter' }]]);
  });

  it('top-requests have a hundred rows, URIs without their query and files too', async () => {
    const uri = (i: number) => `/f${String(i).padStart(3, '0')}.css`;
    await report(
      'hundred',
      many(130, (i) => many(i < 10 ? 2 : 1, (n) => ({ uri: `${uri(i)}?v=${n}` }))).flat(),
    );
    const { data } = await told('top-requests', { hostname: 'hundred', metric: 'uris' });
    expect(data).toEqual(many(100, (i) => ({ value: uri(i), request_count: i < 10 ? 2 : 1 })));
  });

  it('logs have a hundred lines unless more are asked for, at most a thousand', async () => {
    const from = Date.now() - 60_000;
    await report(
      'lines',
      many(130, (i) => ({ at: new Date(from + i).toISOString(), uri: `/${i}` })),
    );
    const uris = async (query: Record<string, string>) =>
      (await told('logs', { hostname: 'lines', ...query })).data.map(({ uri }: { uri: string }) => uri);
    const newest = many(130, (i) => `/${129 - i}`);
    expect(await uris({})).toEqual(newest.slice(0, 100));
    expect(await uris({ limit: '1000' })).toEqual(newest);
    expect(await uris({ limit: '1' })).toEqual(newest.slice(0, 1));
  });
});

describe('unreachable-reasons', () => {
  const FAULTS = {
    client: ['client_closed', 'client_bad_request', 'client_timeout', 'rule_blocked', 'rule_limited'],
    origin: ['origin_timeout', 'origin_broke_off', 'origin_tls_failed'],
    network: ['origin_unreachable', 'edge_fault'],
    config: ['origin_unresolved', 'origin_refused', 'no_origin', 'loop', 'suspended'],
  };

  it('count failed requests by their cause, and say whose fault each is', async () => {
    const faults = Object.entries(FAULTS).flatMap(([fault, reasons]) =>
      reasons.map((reason) => ({ fault, reason })),
    );
    const lines = faults.flatMap(({ reason }, i) => many(i + 1, () => ({ status: 502, reason })));
    await report('reasons', [...lines, ...many(5, () => ({ status: 500 }))]);
    const { data } = await told('unreachable-reasons', { hostname: 'reasons' });
    const rows = faults.map(({ fault, reason }, i) => ({
      reason,
      fault,
      count: i + 1,
      label: expect.stringMatching(/^[A-Z]/),
      meaning: expect.stringMatching(/\.$/),
      status: expect.any(Number),
    }));
    expect(data).toEqual(rows.reverse());
    for (const { status } of data) expect(status >= 400 && status <= 599).toBe(true);
  });
});

describe('a narrowing', () => {
  const count = async (query: Record<string, string>) => (await told('summary', query)).total_requests;

  it('by a name takes that host and those below, by a label that host, by a part of a label none', async () => {
    await report('deep.tree', [{}]);
    await report('tree', [{}, {}]);
    await report('treetop', [{}, {}, {}, {}]);
    expect(await count({ hostname: `tree.${NAME}` })).toBe(3);
    expect(await count({ hostname: `deep.tree.${NAME}` })).toBe(1);
    expect(await count({ hostname: 'tree' })).toBe(2);
    expect([await count({ hostname: 'tre' }), await count({ hostname: 'ree' })]).toEqual([0, 0]);
    expect(await count({ hostname: 'deep' })).toBe(0); // of the domain, not of a host below it
    expect(await count({ hostname: 'TREE.Shop.Test.' })).toBe(3);
  });

  it('by a path takes what begins so', async () => {
    await report(
      'paths',
      ['/a', '/ab', '/a?x=1', '/a/b', '/A', '/b/a'].map((uri) => ({ uri })),
    );
    expect(await count({ hostname: 'paths', path: '/a' })).toBe(4);
    expect(await count({ hostname: 'paths', path: '/a/' })).toBe(1);
    expect(await count({ hostname: 'paths', path: '/' })).toBe(6);
  });
});
