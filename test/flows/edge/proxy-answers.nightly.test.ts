// What the test proxy does with origins and their answers: cache, routes, pools, error pages, settings, TLS.

import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { EdgeConfig, EdgeHost, EdgeSettings } from '../../../src/edge/edge-config.ts';
import type { EdgeRule } from '../../../src/edge/edge-rule.ts';
import { askEdge, openWebsocket, type Visiting } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { makeAuthority } from '../../support/edge/origin/made-certificate.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { type EdgeProxy, startEdgeProxy } from '../../support/edge/proxy/edge-proxy.ts';
import { certificateOf } from '../../support/edge/told-certificate.ts';
import { freePort } from '../../support/processes/free-port.ts';

const PAGE = 'http://www.shop.example/page?a=1';
const CACHE = {
  ttl_seconds: 60,
  key_query: 'all',
  key_query_list: [],
  key_headers: [],
  bypass: false,
} as const;

const authority = makeAuthority();
const leaf = authority.issue(['www.shop.example', '*.shop.example']);
let proxy: EdgeProxy;
let [first, second, tls]: TestOrigin[] = [];
let version = 0;
let fingerprint: string | undefined;

beforeAll(async () => {
  proxy = await startEdgeProxy({
    allow: ['127.0.7.0/24'],
    fingerprintOf: () => fingerprint,
    loadCertificate: () => Promise.resolve(leaf),
  });
  [first, second, tls] = await Promise.all([
    startOrigin('first', '127.0.7.1'),
    startOrigin('second', '127.0.7.2'),
    startOrigin('tls', '127.0.7.3', makeAuthority().issue(['own.example'])),
  ]);
});
afterAll(() => Promise.all([proxy, first, second, tls].map((each) => each?.stop())));
afterEach(() => {
  for (const origin of [first, second, tls]) origin?.says(undefined);
});

const toldOf = (origin: TestOrigin | undefined, more: object = {}) =>
  madeOrigin({ destination: origin?.address as string, port: origin?.port as number, ...more });

function told(
  config: { rules?: EdgeRule[]; settings?: Partial<EdgeSettings>; hosts?: EdgeHost[] } & Omit<
    Partial<EdgeConfig>,
    'settings'
  >,
): void {
  const whole = madeConfig('shop.example', {
    hosts: [madeHost('www.shop.example', toldOf(first))],
    certificates: [certificateOf(1, leaf.certificate)],
    ...config,
  });
  proxy.configs.apply({ cursor: '1', domain: 'shop.example', version: ++version, config: whole });
}

const ask = (visiting: Visiting = {}, url = PAGE) => askEdge(proxy, url, visiting);
const asked = async (count: number) => {
  const names = [];
  for (let i = 0; i < count; i++) names.push((await ask()).json?.name);
  return names;
};

it('cache keeps an answer for its time, by the parts of the query and the headers that count', async () => {
  const says = (headers: Record<string, string>) => {
    let count = 0;
    first?.says(() => ({ headers, body: String(++count) }));
  };
  const bodies = async (...all: [url: string, headers?: Record<string, string>][]) => {
    const found = [];
    for (const [query, headers] of all) {
      found.push((await ask({ headers: headers ?? {} }, `http://www.shop.example/c${query}`)).text);
    }
    return found;
  };
  const rule = madeRule('cache', 1, { ...CACHE, respect_origin: false, browser_ttl_seconds: 5 });
  says({ 'cache-control': 'no-store' });
  told({ rules: [rule] });
  expect(await bodies(['?a=1'], ['?a=1'], ['?a=2'])).toEqual(['1', '1', '2']);
  expect((await ask({}, 'http://www.shop.example/c?a=1')).headers).toMatchObject({
    'x-cache': 'HIT',
    'cache-control': 'max-age=5',
  });
  proxy.pass(61);
  expect(await bodies(['?a=1'], ['?a=1'])).toEqual(['3', '3']);
  told({ rules: [rule], settings: { developer_mode_until: new Date(Date.now() + 3_600_000).toISOString() } });
  expect(await bodies(['?a=1'], ['?a=1'])).toEqual(['4', '5']);
  told({ rules: [{ ...rule, bypass: true }] });
  expect(await bodies(['?a=1'], ['?a=1'])).toEqual(['6', '7']);
  told({ rules: [{ ...rule, key_query: 'list', key_query_list: ['b'], key_headers: ['X-Kind'] }] });
  expect(await bodies(['?a=8'], ['?a=9'], ['?b=1'], ['?a=1', { 'x-kind': 'k' }])).toEqual([
    '8',
    '8',
    '9',
    '10',
  ]);
  told({ rules: [{ ...rule, respect_origin: true }] });
  proxy.pass(61);
  expect(await bodies(['?a=1'], ['?a=1'])).toEqual(['11', '12']);
});

it('origin_route asks another origin, and origin_pool its members in turn by weight', async () => {
  const route = madeRule('origin_route', 1, {
    destination: '127.0.7.2',
    port: second?.port as number,
    scheme: 'http',
    host_header: 'inner.example',
  });
  told({ rules: [route] });
  expect((await ask()).json).toMatchObject({ name: 'second', headers: { host: 'inner.example' } });
  const member = (origin: TestOrigin | undefined, weight = 1, backup = false) =>
    ({
      host: origin?.address as string,
      port: origin?.port as number,
      scheme: 'http',
      weight,
      backup,
    }) as const;
  const pool = madeRule('origin_pool', 2, {
    origins: [member(first, 2), member(second), { ...member(tls, 1, true), scheme: 'https' }],
    method: 'round_robin',
  });
  told({ rules: [route, pool] });
  expect((await asked(6)).sort()).toEqual(['first', 'first', 'first', 'first', 'second', 'second']);
  told({ rules: [{ ...pool, id: 3, method: 'hash' }] });
  expect(new Set(await asked(4)).size).toBe(1);
  const dead = { ...member(first), port: await freePort() };
  const health = { path: '/up', status: 200, interval_seconds: 10 };
  told({ rules: [{ ...pool, id: 4, origins: [dead, member(second), member(tls, 1, true)], health }] });
  proxy.pass(11);
  await proxy.checkPools();
  expect(await asked(2)).toEqual(['second', 'second']);
  second?.says(() => ({ status: 500 }));
  proxy.pass(11);
  await proxy.checkPools();
  second?.says(undefined);
  told({
    rules: [
      {
        ...pool,
        id: 4,
        origins: [dead, member(second), { ...member(tls, 1, true), scheme: 'https' }],
        health,
      },
    ],
  });
  expect(await asked(1)).toEqual(['tls']);
});

it('error_page stands in the place of what failed, at the origin or here', async () => {
  const page = (id: number, status_codes: number[], content_type: 'text/html' | 'application/json') =>
    madeRule('error_page', id, { status_codes, html: `"page ${id}"`, content_type });
  told({ rules: [page(1, [500], 'text/html'), page(2, [502, 504], 'application/json')] });
  first?.says(() => ({ status: 500, body: 'trace' }));
  expect(await ask()).toMatchObject({ status: 500, text: '"page 1"' });
  first?.says('never');
  const hosts = [madeHost('www.shop.example', toldOf(first, { timeout_seconds: 0.2 }))];
  told({ rules: [page(2, [502, 504], 'application/json')], hosts });
  expect(await ask()).toMatchObject({ status: 504, json: 'page 2' });
  told({ hosts: [madeHost('www.shop.example', toldOf(first, { port: await freePort() }))] });
  expect(await ask()).toMatchObject({ status: 502, text: 'Bad Gateway\n' });
});

it('origins are taken in turn; scheme, port, host and SNI are those of the record', async () => {
  told({ hosts: [madeHost('www.shop.example', toldOf(first), toldOf(second))] });
  expect((await asked(4)).sort()).toEqual(['first', 'first', 'second', 'second']);
  const https = toldOf(tls, { scheme: 'https', host_header: 'own.example' });
  told({ hosts: [madeHost('www.shop.example', https)] });
  expect((await ask()).json).toMatchObject({
    scheme: 'https',
    sni: 'own.example',
    headers: { host: 'own.example' },
  });
  for (const [origin, scheme] of [[tls, 'https'] as const, [first, 'http'] as const]) {
    told({ hosts: [madeHost('www.shop.example', toldOf(origin, { scheme: 'auto' }))] });
    expect((await ask()).json).toMatchObject({ scheme });
  }
});

it('settings add and strip headers, and answer Markdown to who asks for it', async () => {
  const html = '<body><h1>Shop</h1><p>All <a href="/x">things</a> &amp; more</p><ul><li>a<li>b</ul></body>';
  first?.says(() => ({
    headers: { server: 'x/1', 'x-powered-by': 'y', 'content-type': 'text/html' },
    body: html,
  }));
  told({ settings: { sec_no_sniff: true, sec_referrer_policy: true, sec_strip_headers: true } });
  const { headers, text } = await ask({ headers: { accept: 'text/markdown' } });
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
  });
  expect([headers.server, headers['x-powered-by'], text]).toEqual([undefined, undefined, html]);
  told({ settings: { markdown_for_agents: true } });
  const markdown = await ask({ headers: { accept: 'text/markdown, text/html;q=0.5' } });
  expect(markdown.headers).toMatchObject({ 'content-type': 'text/markdown; charset=utf-8', vary: 'Accept' });
  expect(markdown.text).toBe('# Shop\n\nAll [things](/x) & more\n\n- a\n- b\n');
  expect((await ask({ headers: { accept: 'text/html' } })).text).toBe(html);
});

it('websockets pass when the domain may', async () => {
  told({});
  expect(await openWebsocket(proxy, PAGE)).toBe(403);
  told({ settings: { websockets: true } });
  const socket = await openWebsocket(proxy, PAGE);
  if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
  socket.write('hello');
  expect(String((await once(socket, 'data'))[0])).toBe('hello');
  socket.destroy();
});

it('TLS shows the certificate of the name, sees fingerprints, and is refused while suspended', async () => {
  const url = PAGE.replace('http:', 'https:');
  const visiting = { ca: authority.certificate };
  fingerprint = 'abc';
  const rule = madeRule('fingerprint', 1, { fingerprints: ['abc'], action: 'block' });
  told({ rules: [rule] });
  expect([(await ask(visiting, url)).status, (await ask()).status]).toEqual([403, 200]);
  told({ suspended: true });
  await expect(ask(visiting, url)).rejects.toThrow();
  expect((await ask()).status).toBe(403);
  told({});
  expect((await ask(visiting, url)).certificate?.subject.CN).toBe('www.shop.example');
  await expect(ask(visiting, 'https://nothing.shop.example/')).rejects.toThrow();
  const elsewhere = await ask(
    { ...visiting, servername: 'www.shop.example' },
    'https://nothing.shop.example/',
  );
  expect([elsewhere.status, (await ask({}, 'http://nothing.shop.example/')).status]).toEqual([421, 421]);
});

it('HTTP-01 is answered before all rules', async () => {
  const drop = madeRule('drop', 1, { country_match_type: 'include', countries: [] });
  const http01 = [{ host: 'www.shop.example', token: 'abc', key_authorization: 'abc.def' }];
  told({ rules: [drop], http01 });
  const at = (token: string) => ask({}, `http://www.shop.example/.well-known/acme-challenge/${token}`);
  expect(await at('abc')).toMatchObject({ status: 200, text: 'abc.def' });
  expect((await at('other')).status).toBe(403);
});
