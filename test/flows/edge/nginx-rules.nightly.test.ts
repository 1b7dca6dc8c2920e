// Responses of Debian's nginx with the agent's configuration, for hand-written configs.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCulprits } from '../../../agent/find-culprits.mjs';
import type { EdgeConfig } from '../../../src/edge/edge-config.ts';
import type { EdgeRule } from '../../../src/edge/edge-rule.ts';
import { type Issued, makeCertificate } from '../../support/certificates/make-certificate.ts';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { hasNginx, type ServedNginx, serveNginx, stopNginx } from '../../support/edge/nginx/served-nginx.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { BLOCKING, REDIRECTING, REWRITING } from '../../support/edge/rule-cases.ts';
import { certificateOf } from '../../support/edge/told-certificate.ts';
import { until } from '../../support/tests/until.ts';

const WWW = 'http://www.shop.example';
const COUNTRIES = join(
  dirname(createRequire(import.meta.url).resolve('@ip-location-db/geo-whois-asn-country-mmdb/package.json')),
  'geo-whois-asn-country.mmdb',
);
const EVERYWHERE = { country_match_type: 'include', countries: [] } as const;
const RATE = { requests: 9, period_seconds: 60, key: 'ip', action: 'block', block_seconds: 0 } as const;
const CACHE = { ttl_seconds: 60, bypass: false, respect_origin: false } as const;
const WAF = { paranoia: 1, threshold: 5, body_cap_kb: 128, rule_excludes: [] as string[] };
/** Three unbounded repetitions: a search takes time proportional to at least the third power of the text's length. */
const SLOW = { path: { type: 'regex', includes: ['a*a*a*[bc]'], excludes: [] } } as const;
const LONG = 'a'.repeat(3_000);

type Fields<T extends EdgeRule['type']> = Partial<Parameters<typeof madeRule<T>>[2]>;
type Server = Parameters<typeof madeRule<'origin_pool'>>[2]['origins'][number];

const drop = (id: number, fields: Fields<'drop'> = {}) => madeRule('drop', id, { ...EVERYWHERE, ...fields });
const redirect = (id: number, target: string, fields: Fields<'redirect'>) =>
  madeRule('redirect', id, {
    target,
    status_code: 302,
    preserve_query: false,
    preserve_path: false,
    ...fields,
  });
const cache = (id: number, fields: Fields<'cache'>) =>
  madeRule('cache', id, { ...CACHE, key_query: 'all', key_query_list: [], key_headers: [], ...fields });
const at = (port: number, more: Partial<Server> = {}): Server => ({
  ...{ host: '127.0.0.1', port, scheme: 'http', weight: 1, backup: false },
  ...more,
});
const pool = (id: number, origins: readonly Server[], fields: Fields<'origin_pool'>) =>
  madeRule('origin_pool', id, { origins, method: 'round_robin', ...fields });

describe.skipIf(!hasNginx)('nginx', () => {
  let origin: TestOrigin;
  let other: TestOrigin;
  let nginx: ServedNginx;
  let certificate: Issued;

  beforeAll(async () => {
    certificate = await makeCertificate({ names: ['*.shop.example'] });
    origin = await startOrigin('main', '127.0.0.1');
    other = await startOrigin('other', '127.0.0.1');
    nginx = await serveNginx({ certificates: new Map([[5, certificate]]) });
  });
  afterAll(async () => {
    await nginx?.stop();
    await origin?.stop();
    await other?.stop();
  });

  const place = (port: number, destination = '127.0.0.1') => madeOrigin({ destination, port });
  const shop = (
    rules: readonly EdgeRule[],
    more: Omit<Partial<EdgeConfig>, 'settings'> & { settings?: Partial<EdgeConfig['settings']> } = {},
  ) =>
    madeConfig('shop.example', {
      hosts: [madeHost('www.shop.example', place(origin.port))],
      rules,
      ...more,
    });
  const serve = async (rules: readonly EdgeRule[], more = {}) => {
    const { refused } = await nginx.take(shop(rules, more));
    expect([...refused]).toEqual([]);
  };
  const wildcard = (include: string, ...excludes: string[]) => ({
    path: { type: 'wildcard', includes: [include], excludes } as const,
  });
  const regex = (include: string, ...excludes: string[]) => ({
    path: { type: 'regex', includes: [include], excludes } as const,
  });

  const statusOf = async (path: string) => (await askEdge(nginx, `${WWW}${path}`)).status;
  /** The rules that the agent reported as not obeyed. */
  const unsupported = () =>
    nginx.edge
      .unsupported()
      .map(({ rule_id }) => rule_id)
      .sort((a, b) => a - b);

  it('requests exactly the client’s octets from the origin', async () => {
    await serve([]);
    const { json } = await askEdge(nginx, `${WWW}/a%2Fb/%7Ec//d?x=1&y=%20`, {
      headers: { 'x-forwarded-for': '203.0.113.9', proxy: 'http://192.0.2.1' },
    });
    expect(json.url).toBe('/a%2Fb/%7Ec//d?x=1&y=%20');
    expect(json.headers).toMatchObject({
      host: 'www.shop.example',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'cdn-loop': 'zonefleet',
    });
    // CGI programs would interpret it as their own proxy setting.
    expect(json.headers).not.toHaveProperty('proxy');
  });

  it('rejects unknown hosts, paths with control characters, and loops', async () => {
    await serve([]);
    expect((await askEdge(nginx, 'http://nobody.example/')).status).toBe(421);
    expect((await askEdge(nginx, `${WWW}/a%0Ab`)).status).toBe(400);
    expect(
      (await askEdge(nginx, `${WWW}/`, { headers: { 'cdn-loop': 'other, zonefleet; a=b' } })).status,
    ).toBe(508);
    await expect(askEdge(nginx, 'https://nobody.example/')).rejects.toThrow();
  });

  it('blocks by path, whole and case-sensitively, including other spellings', async () => {
    await serve(BLOCKING.rules);
    for (const path of BLOCKING.blocked) expect([path, await statusOf(path)]).toEqual([path, 403]);
    for (const path of BLOCKING.passed) expect([path, await statusOf(path)]).toEqual([path, 200]);
  });

  it('blocks by the client’s country, which only trusted proxies may name', async () => {
    const located = await serveNginx({ countries: { file: COUNTRIES, field: ['country_code'] } });
    await located.take(shop([madeRule('drop', 1, { country_match_type: 'include', countries: ['DE'] })]));
    const statusFor = async (client: string, from?: string) =>
      (await askEdge(located, `${WWW}/`, { ...(from && { from }), headers: { 'x-forwarded-for': client } }))
        .status;
    expect([await statusFor('5.9.1.1', '127.0.0.9'), await statusFor('8.8.8.8', '127.0.0.9')]).toEqual([
      403, 200,
    ]);
    expect(await statusFor('5.9.1.1')).toBe(200);
    await located.stop();
  });

  it('logs dry runs, and continues', async () => {
    await serve([
      drop(71, { action_mode: 'dry_run', ...wildcard('/dry*') }),
      redirect(72, '/x', { action_mode: 'dry_run', ...wildcard('/dry*') }),
      drop(73, wildcard('/dry/not')),
    ]);
    expect((await askEdge(nginx, `${WWW}/dry`)).status).toBe(200);
    expect((await askEdge(nginx, `${WWW}/dry/not`)).status).toBe(403);
    await until(
      () => /"uri":"\/dry",.*"would":"71 72 "/.test(nginx.logged('dry-run.log')),
      'the dry run is logged',
    );
    await until(
      () => /"uri":"\/dry\/not",.*"rule":"73"/.test(nginx.logged('access.log')),
      'the rule is logged',
    );
  });

  it('limits rates by address, by path and by header', async () => {
    const limit = { ...RATE, requests: 2 } as const;
    await serve([
      madeRule('rate_limit', 1, { ...limit, ...wildcard('/ip') }),
      madeRule('rate_limit', 2, { ...limit, key: 'ip_path', ...wildcard('/path/*') }),
      madeRule('rate_limit', 3, { ...limit, key: 'header', header: 'x-key', ...wildcard('/header') }),
    ]);
    const ask = async (path: string, from = '127.0.0.1', key = 'a') =>
      (await askEdge(nginx, WWW + path, { from, headers: { 'x-key': key } })).status;
    const several = async (path: string, from?: string, key?: string) => {
      const statuses = [];
      for (let i = 0; i < 5; i++) statuses.push(await ask(path, from, key));
      return statuses.join(' ');
    };
    expect(await several('/ip')).toBe('200 200 429 429 429');
    expect(await several('/ip', '127.0.0.2')).toBe('200 200 429 429 429');
    expect(await several('/path/1')).toBe('200 200 429 429 429');
    expect(await several('/path/2')).toBe('200 200 429 429 429');
    expect(await several('/header')).toBe('200 200 429 429 429');
    expect(await several('/header', '127.0.0.1', 'b')).toBe('200 200 429 429 429');
    expect(await several('/other')).toBe('200 200 200 200 200');
  });

  it('redirects with path and query, and never to another host than the target', async () => {
    await serve(REDIRECTING.rules);
    for (const [path, response] of REDIRECTING.responses) {
      const { status, headers } = await askEdge(nginx, WWW + path);
      expect([path, `${status} ${headers.location}`]).toEqual([path, response]);
    }
  });

  it('rewrites the path and the query of requests to the origin', async () => {
    await serve(REWRITING.rules);
    for (const [path, requested] of REWRITING.requests) {
      const { json } = await askEdge(nginx, WWW + path);
      expect([path, json.url]).toEqual([path, requested]);
    }
  });

  it('caches by the rule: lifetime, query, headers, bypass, developer mode', async () => {
    const rules = [
      cache(1, { bypass: true, ...wildcard('/c/bypass') }),
      cache(2, { key_query: 'none', ...wildcard('/c/none') }),
      cache(3, { key_query: 'list', key_query_list: ['a'], ...wildcard('/c/list') }),
      cache(4, { key_headers: ['x-variant'], browser_ttl_seconds: 7, ...wildcard('/c/header') }),
      cache(5, { respect_origin: true, ...wildcard('/c/origin') }),
      cache(6, wildcard('/c/*')),
    ];
    let count = 0;
    origin.says(() => ({
      headers: { 'cache-control': 'no-store', 'x-accel-expires': '0' },
      body: `${++count}`,
    }));
    await serve(rules);
    const ask = async (path: string, headers: Record<string, string> = {}) =>
      (await askEdge(nginx, WWW + path, { headers })).text;
    const same = async (a: string, b: string) => (await ask(a)) === (await ask(b));
    expect(await same('/c/1?x=1', '/c/1?x=1')).toBe(true);
    expect(await same('/c/1?x=1', '/c/1?x=2')).toBe(false);
    expect(await same('/c/none?x=1', '/c/none?x=2')).toBe(true);
    expect(await same('/c/list?a=1&x=1', '/c/list?x=2&a=1')).toBe(true);
    expect(await same('/c/list?a=1', '/c/list?a=2')).toBe(false);
    // Whether origins interpret it differently from nginx is another question.
    for (const odd of ['?A=1&a=2', '?a=1&a=2', '?a=1&%61=2', '?a=1&a[]=2', '?a=1;a=2', '?a&a=1', '?a=1&a.=2'])
      expect([odd, await same('/c/list?a=1', `/c/list${odd}`)]).toEqual([odd, false]);
    expect(await same('/c/list?a=1&x=%20', '/c/list?x=%61%20&a=1')).toBe(true);
    expect(await same('/c/bypass', '/c/bypass')).toBe(false);
    expect(await same('/c/origin', '/c/origin')).toBe(false);
    expect(await same('/other', '/other')).toBe(false);
    const first = await ask('/c/header', { 'x-variant': 'a' });
    expect(await ask('/c/header', { 'x-variant': 'a' })).toBe(first);
    expect(await ask('/c/header', { 'x-variant': 'b' })).not.toBe(first);
    const { headers } = await askEdge(nginx, `${WWW}/c/header`, { headers: { 'x-variant': 'a' } });
    expect(headers).toMatchObject({ 'cache-control': 'max-age=7', 'x-cache': 'HIT' });
    // A response with the name of one visitor must not be sent to others.
    expect(await ask('/c/1?x=1', { authorization: 'Basic x' })).not.toBe(await ask('/c/1?x=1'));
    const developer_mode_until = new Date(Date.now() + 3_600_000).toISOString();
    await serve(rules, { settings: { developer_mode_until } });
    expect(await same('/c/1?x=1', '/c/1?x=1')).toBe(false);
    origin.says(undefined);
  });

  it('responds to errors with pages, both of the origin and without an origin', async () => {
    const page = '<p>{sorry} $host; "é"</p>\n# }';
    await serve(
      [
        madeRule('error_page', 1, {
          status_codes: [404, 502],
          html: page,
          content_type: 'text/html',
          ...wildcard('/page*'),
        }),
        madeRule('error_page', 2, { status_codes: [500], html: '{"a":1}', content_type: 'application/json' }),
      ],
      {
        hosts: [
          madeHost('www.shop.example', place(origin.port)),
          madeHost('away.shop.example', madeOrigin({ destination: '127.0.0.1', port: 1 })),
        ],
      },
    );
    origin.says(({ url }) => ({
      status: Number(url.slice(-3)),
      headers: { 'x-accel-redirect': '/.zonefleet-page/' },
      body: 'mine',
    }));
    expect(await askEdge(nginx, `${WWW}/page404`, { method: 'POST', body: 'x' })).toMatchObject({
      status: 404,
      text: page,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    });
    expect(await askEdge(nginx, `${WWW}/page500`)).toMatchObject({ status: 500, text: '{"a":1}' });
    expect(await askEdge(nginx, `${WWW}/404`)).toMatchObject({ status: 404, text: 'mine' });
    expect(await askEdge(nginx, `${WWW}/page200`)).toMatchObject({ status: 200, text: 'mine' });
    expect(await askEdge(nginx, 'http://away.shop.example/page')).toMatchObject({ status: 502, text: page });
    const file = readdirSync(join(nginx.state, 'pages/zf_1')).find((name) => name.endsWith('.html'));
    origin.says(undefined);
    expect((await askEdge(nginx, `${WWW}/.zonefleet-page/${file}`)).status).toBe(404);
  });

  it('detects attacks with the core rule set: level, score, exclusions, body, dry run', async () => {
    await serve([
      madeRule('waf', 1, { ...WAF, threshold: 100, ...wildcard('/threshold') }),
      madeRule('waf', 2, { ...WAF, rule_excludes: ['942100'], ...wildcard('/exclude') }),
      madeRule('waf', 3, { ...WAF, body_cap_kb: 0, ...wildcard('/waf-nobody') }),
      madeRule('waf', 4, { ...WAF, action_mode: 'dry_run', ...wildcard('/try') }),
      madeRule('waf', 5, { ...WAF, paranoia: 4, ...wildcard('/level4') }),
      madeRule('waf', 6, { ...WAF, ...wildcard('/waf*') }),
    ]);
    const attack = "?id=1'%20or%20'1'%3D'1";
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const headers = { 'user-agent': 'test', accept: '*/*', ...form };
    const ask = async (path: string, body?: string) => {
      const sent = body === undefined ? {} : { method: 'POST', body };
      return (await askEdge(nginx, WWW + path, { headers, ...sent })).status;
    };
    expect(await ask(`/waf${attack}`)).toBe(403);
    expect(await ask('/waf?id=1')).toBe(200);
    expect(await ask(`/threshold${attack}`)).toBe(200);
    expect(await ask(`/exclude${attack}`)).toBe(200);
    expect(await ask(`/try${attack}`)).toBe(200);
    expect(await ask(`/elsewhere${attack}`)).toBe(200);
    expect(await ask('/waf', attack.slice(1))).toBe(403);
    // modsecurity would inspect nothing, so the rule is reported as not obeyed, and the next matching one inspects.
    expect(unsupported()).toEqual([3]);
    expect(await ask(`/waf-nobody${attack}`)).toBe(403);
    expect(await ask('/waf-nobody?id=1')).toBe(200);
    const odd = '?a=(((*)))--%22%3B%3B';
    expect([await ask(`/waf${odd}`), await ask(`/level4${odd}`)]).toEqual([200, 403]);
  });

  it('lets listed robots pass, rejects them, or redirects them', async () => {
    const listed = { bots: 'list' } as const;
    await serve([
      madeRule('bot_route', 1, { ...listed, list: ['good.bot'], action: 'allow' }),
      madeRule('bot_route', 2, { ...listed, list: ['BOT', 'a"b\\$c'], action: 'block' }),
      madeRule('bot_route', 3, { ...listed, list: ['crawler'], action: 'route', destination: '127.0.0.2' }),
    ]);
    const second = await startOrigin('robots', '127.0.0.2', origin.port);
    const ask = async (agent: string) => {
      const { status, json } = await askEdge(nginx, `${WWW}/`, { headers: { 'user-agent': agent } });
      return `${status} ${json?.name}`;
    };
    expect(await ask('a Good.Bot')).toBe('200 main');
    expect(await ask('a goodxbot')).toBe('403 undefined');
    expect(await ask('A"B\\$C')).toBe('403 undefined');
    expect(await ask('my Crawler')).toBe('200 robots');
    expect(await ask('')).toBe('200 main');
    await second.stop();
  });

  it('sends paths to other origins, and shares pools', async () => {
    await serve([
      madeRule('origin_route', 1, {
        destination: '127.0.0.1',
        port: other.port,
        scheme: 'http',
        host_header: 'inner.example:81',
        ...wildcard('/other/*'),
      }),
      pool(2, [at(other.port), at(origin.port), at(1, { backup: true })], wildcard('/pool')),
      pool(3, [at(other.port, { host: '127.0.0.66' })], wildcard('/own')),
    ]);
    const { json } = await askEdge(nginx, `${WWW}/other/1`);
    expect(json).toMatchObject({ name: 'other', headers: { host: 'inner.example:81' } });
    const names = new Set<string>();
    for (let i = 0; i < 4; i++) names.add((await askEdge(nginx, `${WWW}/pool`)).json.name);
    expect([...names].sort()).toEqual(['main', 'other']);
    expect((await askEdge(nginx, `${WWW}/own`)).status).toBe(502);
  });

  it('uses the backup of a pool only if no other server responds', async () => {
    const spare = (port: number) =>
      serve([pool(1, [at(port), at(other.port, { backup: true })], wildcard('/spare'))]);
    const names = async () =>
      new Set(await Promise.all([1, 2, 3].map(async () => (await askEdge(nginx, `${WWW}/spare`)).json.name)));
    await spare(origin.port);
    expect(await names()).toEqual(new Set(['main']));
    await spare(1);
    expect(await names()).toEqual(new Set(['other']));
  });

  it('adds and removes headers as configured', async () => {
    origin.says(() => ({
      headers: { server: 'mine', 'x-powered-by': 'x', 'referrer-policy': 'no-referrer' },
      body: '',
    }));
    await serve([], { settings: { sec_no_sniff: true, sec_referrer_policy: true, sec_strip_headers: true } });
    const { headers } = await askEdge(nginx, `${WWW}/`);
    expect(headers).toMatchObject({
      server: 'nginx',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
    await serve([]);
    const plain = await askEdge(nginx, `${WWW}/`);
    expect(plain.headers).toMatchObject({
      server: 'mine',
      'x-powered-by': 'x',
      'referrer-policy': 'no-referrer',
    });
    origin.says(undefined);
  });

  it('responds only to challenges for a suspended domain', async () => {
    const http01 = [{ host: 'www.shop.example', token: 'to-ken', key_authorization: 'to-ken.key' }];
    await serve([], { suspended: true, http01 });
    expect((await askEdge(nginx, `${WWW}/`)).status).toBe(403);
    await expect(askEdge(nginx, 'https://www.shop.example/')).rejects.toThrow();
    expect((await askEdge(nginx, `${WWW}/.well-known/acme-challenge/to-ken`)).text).toBe('to-ken.key');
  });

  it('uses the certificate of the host, and rejects requests for another host', async () => {
    const told = certificateOf(5, certificate.pem);
    await serve([], { certificates: [told] });
    const visiting = { ca: certificate.pem };
    const { json, certificate: seen } = await askEdge(nginx, 'https://www.shop.example/x', visiting);
    expect(json.headers['x-forwarded-proto']).toBe('https');
    expect(seen?.subjectaltname).toBe('DNS:*.shop.example');
    const other = await askEdge(nginx, 'https://bare.example/', { servername: 'www.shop.example' });
    expect(other.status).toBe(421);
    expect(readdirSync(join(nginx.state, 'certificates'))).toHaveLength(2);
    await serve([], { suspended: true, certificates: [told] });
    await expect(askEdge(nginx, 'https://www.shop.example/', visiting)).rejects.toThrow();
    expect(readdirSync(join(nginx.state, 'certificates'))).toEqual([]);
  });

  it('responds to challenges before rules, even for names that are not proxied', async () => {
    const http01 = ['www.shop.example', 'bare.shop.example'].map((host) => ({
      host,
      token: 't',
      key_authorization: `t.${host}`,
    }));
    await serve([drop(1)], { http01 });
    for (const host of ['www.shop.example', 'bare.shop.example']) {
      expect((await askEdge(nginx, `http://${host}/.well-known/acme-challenge/t`)).text).toBe(`t.${host}`);
      expect((await askEdge(nginx, `http://${host}/`)).status).toBe(host.startsWith('www') ? 403 : 421);
    }
  });

  it('selects the longest matching domain of a host', async () => {
    const inner = [madeHost('www.inner.shop.example', place(other.port))];
    await nginx.take(
      shop([], { hosts: [madeHost('*.shop.example', place(origin.port))] }),
      madeConfig('inner.shop.example', { domain_id: 2, hosts: inner }),
    );
    expect((await askEdge(nginx, 'http://any.shop.example/')).json.name).toBe('main');
    expect((await askEdge(nginx, 'http://www.inner.shop.example/')).json.name).toBe('other');
    expect((await askEdge(nginx, 'http://not.inner.shop.example/')).status).toBe(421);
    await nginx.take({ domain: 'inner.shop.example', gone: true });
    expect((await askEdge(nginx, 'http://not.inner.shop.example/')).json.name).toBe('main');
  });

  it('removes an old file that would break the whole configuration', async () => {
    const path = nginx.edge.files.pathOf('broken.example');
    writeFileSync(path, 'nonsense;');
    expect(await nginx.edge.files.repair()).toEqual(['broken.example']);
    expect(existsSync(path)).toBe(false);
  });

  it('reports the rules that it cannot obey', async () => {
    const rate = { ...RATE, requests: 1 } as const;
    await serve([
      madeRule('captcha', 1, { mode: 'js', valid_seconds: 60 }),
      madeRule('fingerprint', 2, { fingerprints: ['x'], action: 'block' }),
      madeRule('drop', 3, { country_match_type: 'include', countries: ['DE'] }),
      madeRule('rate_limit', 4, { ...rate, action: 'captcha' }),
      madeRule('bot_route', 5, { bots: 'verified', list: [], action: 'block' }),
      drop(6, regex('^/(a+)+$')),
      drop(7, wildcard('/works')),
      madeRule('rate_limit', 8, { ...rate, period_seconds: 119, ...wildcard('/slow') }),
      madeRule('rate_limit', 9, { ...rate, requests: 3, period_seconds: 120, ...wildcard('/odd') }),
      madeRule('rate_limit', 10, { ...rate, ...wildcard('/even') }),
      pool(11, [at(other.port)], { method: 'least_time', ...wildcard('/quick') }),
    ]);
    expect(unsupported()).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 11]);
    expect((await askEdge(nginx, `${WWW}/quick`)).json.name).toBe('main');
    expect((await askEdge(nginx, `${WWW}/works`)).status).toBe(403);
    expect((await askEdge(nginx, `${WWW}/aaa`)).status).toBe(200);
  });

  it('rejects a path that takes too many steps to match, without skipping a rule', async () => {
    await serve([drop(1, SLOW), drop(2, wildcard('/admin*'))]);
    for (const [path, status] of [
      ['/admin', 403],
      ['/aab', 403],
      ['/other', 200],
      [`/admin${LONG}`, 400],
      [`/admin/${'x'.repeat(3_000)}`, 403],
    ] as const)
      expect([path, await statusOf(path)]).toEqual([path, status]);
  });

  it('counts and inspects requests whose path takes too many steps to match', async () => {
    await serve([madeRule('rate_limit', 201, { ...RATE, requests: 1, ...SLOW })]);
    expect([await statusOf(`/${LONG}`), await statusOf(`/${LONG}`)]).toEqual([200, 429]);
    await serve([madeRule('waf', 2, { ...WAF, ...SLOW })]);
    const attack = '?q=%3Cscript%3Ealert(1)%3C/script%3E';
    expect([await statusOf(`/x${attack}`), await statusOf(`/${LONG}${attack}`)]).toEqual([200, 403]);
  });

  it('obeys only as many search expressions as a request can afford, and reports the others', async () => {
    const slow = (id: number) => ({
      path: {
        type: 'regex' as const,
        includes: Array.from({ length: 64 }, (_, i) => `a*a*a*[bc]${id}x${i}`),
        excludes: [],
      },
    });
    const ids = Array.from({ length: 10 }, (_, i) => i + 1);
    await serve([
      ...ids.map((id) => drop(id, slow(id))),
      ...ids.map((id) => madeRule('rate_limit', 100 + id, { ...RATE, ...slow(id) })),
    ]);
    expect(unsupported()).toEqual([7, 8, 9, 10, 107, 108, 109, 110]);
    expect(nginx.edge.unsupported()[0]?.why).toContain('searched for');
    await serve(Array.from({ length: 1_000 }, (_, i) => redirect(i + 1, '/new', wildcard(`/old/${i}/*`))));
    expect(unsupported()).toEqual([]);
    expect((await askEdge(nginx, `${WWW}/old/999/x`)).headers.location).toBe('/new');
  });

  it('omits a rule that nginx rejects, reports it, and obeys the others', async () => {
    const { settings } = nginx.edge;
    const { rateZone } = settings;
    settings.rateZone = '1k'; // nginx: the zone is too small
    await serve([
      drop(1, wildcard('/first')),
      madeRule('rate_limit', 302, RATE),
      madeRule('captcha', 303, { mode: 'js', valid_seconds: 60 }),
      drop(4, wildcard('/last')),
    ]);
    settings.rateZone = rateZone;
    expect(unsupported()).toEqual([302, 303]);
    expect(nginx.edge.unsupported().find(({ rule_id: id }) => id === 302)?.why).toContain('too small');
    expect([await statusOf('/first'), await statusOf('/last'), await statusOf('/')]).toEqual([403, 403, 200]);
  });

  it('serves a domain whose file would be too large, without some of its rules', async () => {
    const hosts = Array.from({ length: 40 }, (_, i) => `h${i}.shop.example`);
    const target = `/${'x'.repeat(3_500)}`;
    const many = Array.from({ length: 2_500 }, (_, i) => {
      const of = hosts.slice(i % 40, (i % 40) + 1);
      return redirect(10 + i, target, { hosts: of, ...wildcard(`/${i}/${'y'.repeat(900)}`) });
    });
    await serve([drop(1, wildcard('/first')), ...many], {
      hosts: ['www.shop.example', ...hosts].map((host) => madeHost(host, place(origin.port))),
    });
    expect([await statusOf('/first'), await statusOf('/')]).toEqual([403, 200]);
    expect(unsupported().length).toBeGreaterThan(0);
    expect(unsupported().length).toBeLessThan(many.length);
    expect(unsupported()).not.toContain(1);
  });

  const few = (...more: readonly ReturnType<typeof madeHost>[]) =>
    madeConfig('shop.example', {
      hosts: [
        madeHost('a.shop.example', place(origin.port)),
        madeHost('b.shop.example', place(other.port)),
        madeHost('c.shop.example', place(origin.port), place(other.port)),
        ...more,
      ],
    });
  const nameAt = async (host: string) => (await askEdge(nginx, `http://${host}.shop.example/`)).json.name;

  it('sends each of many hosts to its own origins', async () => {
    const more = Array.from({ length: 10_000 }, (_, i) =>
      madeHost(
        `h${i}.shop.example`,
        place(i % 2 === 0 ? origin.port : other.port),
        place(1, `127.1.${i >> 8}.${i & 255}`),
      ),
    );
    const plain = Array.from({ length: 10_000 }, (_, i) =>
      madeHost(`p${i}.shop.example`, place(i === 9_999 ? other.port : 1 + i)),
    );
    await nginx.take(few());
    expect([await nameAt('a'), await nameAt('b')]).toEqual(['main', 'other']);
    expect([...(await nginx.take(few(...plain))).refused]).toEqual([]);
    expect([await nameAt('a'), await nameAt('b'), await nameAt('p9999')]).toEqual(['main', 'other', 'other']);
    expect(['main', 'other']).toContain(await nameAt('c'));
    expect([...(await nginx.take(few(...more.slice(0, 200)))).refused]).toEqual([]);
    expect([await nameAt('a'), await nameAt('b')]).toEqual(['main', 'other']);
    expect(['main', 'other']).toContain(await nameAt('h199'));
    expect((await askEdge(nginx, 'http://p1.shop.example/')).status).toBe(421);
  });

  it('keeps the former configuration if a domain has too many hosts, and reports the domain', async () => {
    await nginx.take(few());
    const more = Array.from({ length: 2_001 }, (_, i) => madeHost(`*.h${i}.shop.example`, place(1 + i)));
    expect([...(await nginx.take(few(...more))).refused.keys()]).toEqual(['shop.example']);
    expect(nginx.edge.refused()).toEqual([
      { domain: 'shop.example', why: expect.stringContaining('more than 2000 hosts') },
    ]);
    expect([await nameAt('a'), await nameAt('b')]).toEqual(['main', 'other']);
    await nginx.take(few(...more.slice(0, 1)));
    expect(nginx.edge.refused()).toEqual([]);
  });

  it('is not confused with a process that got its number', async () => {
    await nginx.take(few());
    const stranger = spawn('sleep', ['600']);
    try {
      await stopNginx(nginx.state);
      writeFileSync(join(nginx.state, 'nginx.pid'), `${stranger.pid}\n`);
      expect(nginx.edge.nginx.master()).toBeUndefined();
      await nginx.edge.start();
      expect(await nameAt('a')).toBe('main');
      expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
      expect(Number(readFileSync(join(nginx.state, 'nginx.pid'), 'utf8'))).toBe(nginx.edge.nginx.master());
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('exposes none of its own files except pages', () => {
    const modes = ['configs', 'certificates', 'domains'].map(
      (name) => statSync(join(nginx.state, name)).mode & 0o077,
    );
    expect(modes).toEqual([0, 0, 0]);
  });
});

it('findCulprits finds the rules that nginx rejects, in few attempts', async () => {
  const rules = Array.from({ length: 200 }, (_, i) => i);
  let tries = 0;
  const isTaken = async (some: readonly number[]) => {
    tries++;
    return !some.includes(17) && !some.includes(90);
  };
  expect(await findCulprits(rules, isTaken)).toEqual([17, 90]);
  expect(tries).toBeLessThan(40);
  expect(await findCulprits(rules, async () => false)).toBeUndefined();
  const left = await findCulprits(rules, async (some) => some.every((rule) => rule % 2 === 0));
  expect(left).toEqual(expect.arrayContaining(rules.filter((rule) => rule % 2 === 1)));
});
