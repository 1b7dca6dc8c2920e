// What the test proxy holds against origins that lead to where nobody may, and against a stream that brings garbage.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { portOf } from '../../support/edge/origin/ask-origin.ts';
import { listOf, mayConnect } from '../../support/edge/origin/judge-address.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { ConfigStore } from '../../support/edge/proxy/config-store.ts';
import { type EdgeProxy, startEdgeProxy } from '../../support/edge/proxy/edge-proxy.ts';

describe('an origin', () => {
  const names = new Map<string, string[][]>();
  let proxy: EdgeProxy;
  let [open, hidden]: TestOrigin[] = [];
  let version = 0;

  beforeAll(async () => {
    proxy = await startEdgeProxy({
      allow: ['127.0.7.0/24'],
      resolve: (name) => {
        const answers = names.get(name) ?? [];
        return Promise.resolve((answers.length > 1 ? answers.shift() : answers[0]) ?? []);
      },
    });
    open = await startOrigin('open', '127.0.7.1');
    hidden = await startOrigin('hidden', '127.0.0.1', undefined, open.port);
  });
  afterAll(() => Promise.all([proxy, open, hidden].map((each) => each?.stop())));

  async function statusBy(destination: string): Promise<[number, string | undefined]> {
    const origin = madeOrigin({ destination, port: open?.port as number });
    const config = madeConfig('shop.example', { hosts: [madeHost('www.shop.example', origin)] });
    proxy.configs.apply({ cursor: '1', domain: 'shop.example', version: ++version, config });
    const { status } = await askEdge(proxy, 'http://www.shop.example/');
    return [status, proxy.seen.at(-1)?.reason];
  }

  it.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '172.31.255.255',
    '100.64.0.1',
    '0.0.0.0',
    '::',
    'fe80::1',
    'fd00::1',
    '64:ff9b::a00:1',
  ])('%s is not connected to, neither by address nor by name', async (address) => {
    names.set('origin.example', [[address]]);
    expect(await statusBy('origin.example')).toEqual([502, 'origin_refused']);
    expect(await statusBy(address)).toEqual([502, 'origin_refused']);
    expect(hidden?.received).toEqual([]);
  });

  it('is connected to at the address that was judged, though its name leads elsewhere a moment later', async () => {
    names.set('origin.example', [['127.0.7.1'], ['127.0.0.1']]);
    expect((await statusBy('origin.example'))[0]).toBe(200);
    expect(proxy.seen.at(-1)?.origin).toBe('127.0.7.1');
    expect(await statusBy('origin.example')).toEqual([502, 'origin_refused']);
    names.set('origin.example', [['10.0.0.1', '127.0.7.1']]);
    expect((await statusBy('origin.example'))[0]).toBe(200);
    expect(hidden?.received).toEqual([]);
  });

  it('that redirects is not followed: the visitor gets what it says', async () => {
    open?.says(() => ({ status: 302, headers: { location: `http://127.0.0.1:${hidden?.port}/` } }));
    expect((await statusBy('127.0.7.1'))[0]).toBe(302);
    expect(hidden?.received).toEqual([]);
  });

  it('is asked at 80 by plain HTTP when nobody said another port than that of TLS', () => {
    expect([portOf('http', 443), portOf('http', 8_443), portOf('https', 443)]).toEqual([80, 8_443, 443]);
  });
});

it('public addresses may be connected to', () => {
  const none = listOf([]);
  for (const address of ['198.41.0.4', '2a00:1450:4001:80e::200e', '::ffff:198.41.0.4']) {
    expect(mayConnect(address, none)).toBe(true);
  }
  expect(mayConnect('no address', none)).toBe(false);
});

describe('the config', () => {
  const line = (domain: string, version: number, config: object | null) => ({
    cursor: `c${version}`,
    domain,
    version,
    config,
  });
  const config = (domain: string) => madeConfig(domain, { hosts: [] });

  it('of the longest name counts, and the newest version wins', () => {
    const store = new ConfigStore();
    store.apply(line('a.example', 5, config('a.example')));
    store.apply(line('b.a.example', 6, config('b.a.example')));
    expect(store.find('www.b.a.example')?.domain).toBe('b.a.example');
    expect(store.find('www.xb.a.example')?.domain).toBe('a.example');
    expect(store.find('example')).toBeUndefined();
    store.apply(line('b.a.example', 8, null));
    store.apply(line('b.a.example', 7, config('b.a.example')));
    expect(store.find('www.b.a.example')?.domain).toBe('a.example');
    expect(store.cursor).toBe('c7');
  });

  it('of domains that a whole snapshot leaves out is dropped; one that breaks off drops nothing', () => {
    const store = new ConfigStore();
    for (const name of ['a.example', 'b.example']) store.apply(line(name, 1, config(name)));
    store.apply({ cursor: 'c0', snapshot: 'begin' });
    store.apply(line('a.example', 1, config('a.example')));
    store.apply({ cursor: 'c0', snapshot: 'begin' });
    expect(store.all()).toHaveLength(2);
    store.apply(line('b.example', 1, config('b.example')));
    store.apply({ cursor: 'c0', snapshot: 'end' });
    expect(store.all().map(({ domain }) => domain)).toEqual(['b.example']);
    store.apply(line('b.example', 7, config('b.example')));
    store.apply({ cursor: 'c0', snapshot: 'begin' }); // of a database that was restored: its versions begin lower
    store.apply(line('b.example', 3, config('b.example')));
    store.apply({ cursor: 'c0', snapshot: 'end' });
    expect(store.versionOf('b.example')).toBe(3);
    store.apply({ cursor: 'c0', snapshot: 'end' }); // of one whose begin was not seen
    expect(store.all()).toHaveLength(1);
  });

  it('is untouched by lines that are garbage, and their cursor does not count', () => {
    const store = new ConfigStore();
    store.apply(line('a.example', 1, config('a.example')));
    const wrong = ['', '{', 'null', '[]', '{"cursor":1}', '{"cursor":"x","domain":"a.example","version":2}'];
    const half = JSON.stringify({ ...line('a.example', 3, { settings: {} }), cursor: 'x' });
    for (const text of [...wrong, half]) store.applyText(text);
    expect(store.garbage).toBe(7);
    expect(store.cursor).toBe('c1');
    expect(store.of('a.example')?.domain).toBe('a.example');
  });
});

it('an expression over which other engines hang is looked for in linear time', async () => {
  const proxy = await startEdgeProxy();
  const path = { type: 'regex', includes: ['^/(a+)+$', '(.*a){20}$'], excludes: [] } as const;
  const wildcard = {
    type: 'wildcard',
    includes: ['*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b'],
    excludes: [],
  } as const;
  const drop = { country_match_type: 'include', countries: [] } as const;
  const rules = [madeRule('drop', 1, { ...drop, path }), madeRule('drop', 2, { ...drop, path: wildcard })];
  const config = madeConfig('shop.example', { hosts: [madeHost('www.shop.example')], rules });
  proxy.configs.apply({ cursor: '1', domain: 'shop.example', version: 1, config });
  const long = `http://www.shop.example/${'a'.repeat(8_000)}!`;
  expect((await askEdge(proxy, long)).status).toBe(502);
  await proxy.stop();
});

it('a rule with an expression that the engine does not have is left out and told, others act', async () => {
  const proxy = await startEdgeProxy();
  const path = { type: 'regex', includes: ['(.)(?=x)'], excludes: [] } as const;
  const drop = { country_match_type: 'include', countries: [] } as const;
  const rules = [madeRule('drop', 1, { ...drop, path }), madeRule('drop', 2, drop)];
  const config = madeConfig('shop.example', { hosts: [madeHost('www.shop.example')], rules });
  proxy.configs.apply({ cursor: '1', domain: 'shop.example', version: 1, config });
  expect((await askEdge(proxy, 'http://www.shop.example/')).status).toBe(403);
  expect(proxy.seen.at(-1)?.rule).toBe(2);
  expect(proxy.unsupported()).toEqual([{ rule_id: 1, why: expect.stringContaining('(?=x)') }]);
  await proxy.stop();
});
