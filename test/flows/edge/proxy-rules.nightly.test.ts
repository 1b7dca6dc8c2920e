// The twelve types of rules as the test proxy obeys them, with configs written by hand: enforced, and in dry runs.

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { EdgeRule } from '../../../src/edge/edge-rule.ts';
import { askEdge, solveChallenge, type Visiting } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { type EdgeProxy, startEdgeProxy } from '../../support/edge/proxy/edge-proxy.ts';

const GERMAN = '127.0.6.49';
const ROBOT = '127.0.6.66';
const FINGERPRINT = 't13d1516h2_8daaf6152771_e5627efa2ab1';
const PAGE = 'http://www.shop.example/page?a=1';

let proxy: EdgeProxy;
let [own, other]: TestOrigin[] = [];
let version = 0;

beforeAll(async () => {
  proxy = await startEdgeProxy({
    allow: ['127.0.7.0/24'],
    countryOf: (client) => (client === GERMAN ? 'DE' : undefined),
    isVerifiedBot: (client) => client === ROBOT,
  });
  [own, other] = await Promise.all([startOrigin('own', '127.0.7.1'), startOrigin('other', '127.0.7.2')]);
});
afterAll(() => Promise.all([proxy?.stop(), own?.stop(), other?.stop()]));
afterEach(() => own?.says(undefined));

function told(...rules: readonly EdgeRule[]): void {
  const hosts = ['www.shop.example', 'api.shop.example'].map((host) => madeHost(host, portOf(own)));
  const config = madeConfig('shop.example', { hosts, rules });
  proxy.configs.apply({ cursor: '1', domain: 'shop.example', version: ++version, config });
}

const portOf = (origin: TestOrigin | undefined) =>
  madeOrigin({ destination: origin?.address as string, port: origin?.port as number });
const ask = (visiting: Visiting = {}, url = PAGE) => askEdge(proxy, url, visiting);

/** Enforced it changes what `url` answers as `changed` says; in a dry run the answer is the origin's, and it is logged. */
async function expectEnforcedAndDry(
  rule: EdgeRule,
  changed: { status: number; headers?: object },
  visiting: Visiting = {},
  url = PAGE,
): Promise<void> {
  told(rule);
  expect(await ask(visiting, url)).toMatchObject(changed);
  expect(proxy.seen.at(-1)).toMatchObject({ rule: rule.id, would: [] });
  told({ ...rule, action_mode: 'dry_run' });
  expect(await ask(visiting, url)).toMatchObject({ status: 200, json: { name: 'own' } });
  expect(proxy.seen.at(-1)?.would).toMatchObject([{ rule: rule.id, type: rule.type }]);
  expect(proxy.seen.at(-1)?.rule).toBeUndefined();
}

it('drop refuses by country, those listed or those not listed', async () => {
  const drop = madeRule('drop', 1, { country_match_type: 'include', countries: ['DE'] });
  await expectEnforcedAndDry(drop, { status: 403 }, { from: GERMAN });
  told(drop);
  expect(await ask()).toMatchObject({ status: 200 });
  told({ ...drop, country_match_type: 'exclude' });
  expect(await ask()).toMatchObject({ status: 403 });
  expect(await ask({ from: GERMAN })).toMatchObject({ status: 200 });
});

it('rules match the decoded path, so that an encoded letter is no way around', async () => {
  const path = { type: 'wildcard', includes: ['/admin*'], excludes: ['/admin/open'] } as const;
  told(madeRule('drop', 1, { country_match_type: 'include', countries: [], path }));
  const statuses = [];
  for (const way of ['/admin', '/%61dmin', '/x/../admin', '//admin', '/admin/open', '/ADMIN', '/']) {
    statuses.push((await ask({}, `http://www.shop.example${way}`)).status);
  }
  expect(statuses).toEqual([403, 403, 403, 403, 200, 200, 200]);
});

it('rate_limit refuses above the limit until its time is over, by address, path or header', async () => {
  const limit = madeRule('rate_limit', 2, {
    requests: 2,
    period_seconds: 10,
    key: 'ip',
    action: 'block',
    block_seconds: 60,
  });
  told(limit);
  const statuses = async (count: number, visiting: Visiting = {}) => {
    const all = [];
    for (let i = 0; i < count; i++) all.push((await ask(visiting)).status);
    return all;
  };
  expect(await statuses(3)).toEqual([200, 200, 429]);
  expect((await ask()).headers['retry-after']).toBe('60');
  expect(await statuses(1, { from: GERMAN })).toEqual([200]);
  proxy.pass(61);
  expect(await statuses(3)).toEqual([200, 200, 429]);
  told({ ...limit, id: 3, action_mode: 'dry_run' });
  expect(await statuses(3)).toEqual([200, 200, 200]);
  expect(proxy.seen.at(-1)?.would).toEqual([{ rule: 3, type: 'rate_limit', kind: 'answer' }]);
  told({ ...limit, id: 4, key: 'header', header: 'X-User', action: 'captcha' });
  expect(await statuses(3, { headers: { 'x-user': 'a' } })).toEqual([200, 200, 403]);
  expect(await statuses(1, { headers: { 'x-user': 'b' } })).toEqual([200]);
  told({ ...limit, id: 5, key: 'ip_path', requests: 1, period_seconds: 1, action: 'delay' });
  expect(await statuses(3)).toEqual([200, 200, 200]);
});

it('bot_route lets pass, refuses, challenges or sends elsewhere', async () => {
  const bots = madeRule('bot_route', 6, { bots: 'list', list: ['GPTBot'], action: 'block' });
  const asBot = { headers: { 'user-agent': 'Mozilla/5.0 (compatible; gptbot/1.2)' } };
  await expectEnforcedAndDry(bots, { status: 403 }, asBot);
  told({ ...bots, bots: 'verified' });
  expect([(await ask(asBot)).status, (await ask({ from: ROBOT })).status]).toEqual([200, 403]);
  told({ ...bots, bots: 'unverified', action: 'captcha' });
  expect([(await ask(asBot)).status, (await ask()).status]).toEqual([403, 200]);
  other?.says(() => ({ body: 'for robots' }));
  const sent = madeRule('bot_route', 6, {
    bots: 'list',
    list: ['GPTBot'],
    action: 'route',
    destination: '127.0.7.2',
  });
  const host = madeHost('www.shop.example', { ...portOf(own), port: other?.port as number });
  const config = madeConfig('shop.example', { hosts: [host], rules: [sent] });
  proxy.configs.apply({ cursor: '1', domain: 'shop.example', version: ++version, config });
  expect((await ask(asBot)).text).toBe('for robots');
  const captcha = madeRule('captcha', 7, { mode: 'js', valid_seconds: 60 });
  told({ ...bots, action: 'allow' }, captcha);
  expect([(await ask(asBot)).status, (await ask()).status]).toEqual([200, 403]);
});

it('waf counts signs of attacks up to its level, leaves out what is excluded, and reads no more body than its cap', async () => {
  const waf = madeRule('waf', 8, { paranoia: 1, threshold: 5, body_cap_kb: 1, rule_excludes: [] });
  const attack = "http://www.shop.example/?q=1'%20or%201=1";
  await expectEnforcedAndDry(waf, { status: 403 }, {}, attack);
  told({ ...waf, threshold: 6 });
  expect((await ask({}, attack)).status).toBe(200);
  expect(proxy.seen.at(-1)?.score).toBe(5);
  told({ ...waf, threshold: 6, paranoia: 4 });
  expect((await ask({}, attack)).status).toBe(403);
  told({ ...waf, rule_excludes: ['942100'] });
  expect((await ask({}, attack)).status).toBe(200);
  told(waf);
  const post = (body: string) => ask({ method: 'POST', body, headers: { 'content-type': 'text/plain' } });
  expect((await post('<script>')).status).toBe(403);
  const late = await post(`${'x'.repeat(100_000)}<script>`);
  expect(late).toMatchObject({ status: 200, json: { method: 'POST' } });
  expect(late.json.body).toHaveLength(100_008);
  told({ ...waf, body_cap_kb: 0 });
  expect((await post('<script>')).status).toBe(200);
});

it('captcha asks once for as long as a solution counts, and a solution is no one else’s', async () => {
  for (const mode of ['js', 'image'] as const) {
    const captcha = madeRule('captcha', 9, { mode, valid_seconds: 60 });
    await expectEnforcedAndDry(captcha, { status: 403, headers: { 'x-challenge': mode } });
    told(captcha);
    const { cookie, answer } = await solveChallenge(proxy, PAGE, await ask());
    expect(answer).toMatchObject({ status: 303, headers: { location: '/page?a=1' } });
    expect((await ask({ headers: { cookie } })).status).toBe(200);
    expect((await ask({ headers: { cookie }, from: GERMAN })).status).toBe(403);
    expect((await ask({ headers: { cookie: `${cookie}x` } })).status).toBe(403);
    proxy.pass(61);
    expect((await ask({ headers: { cookie } })).status).toBe(403);
  }
});

it('redirect sends on with path and query as it says, and never to another host by the visitor’s path', async () => {
  const redirect = madeRule('redirect', 10, {
    target: 'https://new.example/x?b=2',
    status_code: 308,
    preserve_query: true,
    preserve_path: true,
  });
  const location = 'https://new.example/x/page?b=2&a=1';
  await expectEnforcedAndDry(redirect, { status: 308, headers: { location } });
  told({ ...redirect, preserve_query: false, preserve_path: false, status_code: 301 });
  expect(await ask()).toMatchObject({ status: 301, headers: { location: 'https://new.example/x?b=2' } });
  told({ ...redirect, target: 'https://new.example/#part?x' });
  expect((await ask()).headers.location).toBe('https://new.example/page?a=1#part?x');
  told({ ...redirect, target: '/', preserve_query: false });
  for (const way of ['//evil.example/', '/\\evil.example/']) {
    const { headers } = await ask({}, `http://www.shop.example${way}`);
    expect(headers.location).toBe('/evil.example/');
  }
});

it('rewrite asks the origin for another path and query; a dry run of it acts all the same', async () => {
  const path = { type: 'regex', includes: ['(?s)^/p(.)ge(.*)$'], excludes: [] } as const;
  const rewrite = madeRule('rewrite', 11, {
    path_target: '/new/$1$2',
    query_mode: 'preserve',
    query_target: '',
    path,
    action_mode: 'dry_run',
  });
  told(rewrite);
  expect((await ask()).json.url).toBe('/new/a?a=1');
  const sly = await ask({}, 'http://www.shop.example/page%3Fx%0d%0aHost:%20y');
  expect(sly.json.url).toBe('/new/a%3Fx%0D%0AHost:%20y');
  told({ ...rewrite, query_mode: 'strip' });
  expect((await ask()).json.url).toBe('/new/a');
  told({ ...rewrite, query_mode: 'replace', query_target: 'c=3' });
  expect((await ask()).json.url).toBe('/new/a?c=3');
});

it('a rule acts for its hosts only', async () => {
  const drop = madeRule('drop', 12, { country_match_type: 'include', countries: [] });
  const statuses = async () => [(await ask()).status, (await ask({}, 'http://api.shop.example/')).status];
  told({ ...drop, hosts: ['www.shop.example'] });
  expect(await statuses()).toEqual([403, 200]);
  for (const host of [
    { type: 'exact', pattern: 'api.shop.example' },
    { type: 'wildcard', pattern: 'a*.example' },
    { type: 'regex', pattern: '^api\\.' },
  ] as const) {
    told({ ...drop, host });
    expect(await statuses()).toEqual([200, 403]);
  }
});

it('types act in their order, and fingerprints count over TLS only', async () => {
  const fingerprint = madeRule('fingerprint', 1, { fingerprints: [FINGERPRINT], action: 'block' });
  const redirect = madeRule('redirect', 2, {
    target: '/x',
    status_code: 302,
    preserve_query: false,
    preserve_path: false,
  });
  const limit = madeRule('rate_limit', 30, {
    requests: 1,
    period_seconds: 10,
    key: 'ip',
    action: 'block',
    block_seconds: 1,
  });
  told(redirect, limit, fingerprint);
  expect([(await ask()).status, (await ask()).status]).toEqual([302, 429]);
});
