// What one request may cost an nginx that is served by docs/edge-agent: expressions of customers are matched with a bound, and
// nobody gets past a rule by going beyond it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EdgeRule } from '../../../src/edge/edge-rule.ts';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { hasNginx, type ServedNginx, serveNginx } from '../../support/edge/nginx/served-nginx.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';

const WWW = 'http://www.shop.example';
/** Three open repetitions: a text of this kind takes the third power of its length, and more where it is searched for. */
const SLOW = { type: 'regex', includes: ['a*a*a*[bc]'], excludes: [] } as const;
const LONG = 'a'.repeat(3_000);
const EVERYWHERE = { country_match_type: 'include', countries: [] } as const;
const admin = { path: { type: 'wildcard', includes: ['/admin*'], excludes: [] } } as const;

describe.skipIf(!hasNginx)('nginx', () => {
  let origin: TestOrigin;
  let nginx: ServedNginx;

  beforeAll(async () => {
    origin = await startOrigin('main', '127.0.0.1');
    nginx = await serveNginx();
  });
  afterAll(async () => {
    await nginx?.stop();
    await origin?.stop();
  });

  const serve = async (rules: readonly EdgeRule[]) => {
    const place = madeOrigin({ destination: '127.0.0.1', port: origin.port });
    const config = madeConfig('shop.example', { hosts: [madeHost('www.shop.example', place)], rules });
    expect([...(await nginx.take(config)).refused]).toEqual([]);
  };
  const statusOf = async (path: string) => (await askEdge(nginx, `${WWW}${path}`)).status;

  it('refuses a path that takes too many steps to judge, and passes no rule over', async () => {
    await serve([
      madeRule('drop', 1, { ...EVERYWHERE, path: SLOW }),
      madeRule('drop', 2, { ...EVERYWHERE, ...admin }),
    ]);
    expect(await statusOf('/admin')).toBe(403);
    expect(await statusOf('/aab')).toBe(403);
    expect(await statusOf('/other')).toBe(200);
    expect(await statusOf(`/admin${LONG}`)).toBe(400);
    expect(await statusOf(`/admin/${'x'.repeat(3_000)}`)).toBe(403);
  });

  it('counts and inspects where it cannot tell', async () => {
    const rate = {
      requests: 1,
      period_seconds: 60,
      key: 'ip',
      action: 'block',
      block_seconds: 0,
      path: SLOW,
    } as const;
    await serve([madeRule('rate_limit', 1, rate)]);
    expect([await statusOf(`/${LONG}`), await statusOf(`/${LONG}`)]).toEqual([200, 429]);
    const waf = { paranoia: 1, threshold: 5, body_cap_kb: 128, rule_excludes: [], path: SLOW } as const;
    await serve([madeRule('waf', 2, waf)]);
    const attack = '?q=%3Cscript%3Ealert(1)%3C/script%3E';
    expect([await statusOf(`/x${attack}`), await statusOf(`/${LONG}${attack}`)]).toEqual([200, 403]);
  });

  it('takes as many expressions that are searched for as a request can pay, and tells the others', async () => {
    const includes = (id: number) => Array.from({ length: 64 }, (_, i) => `a*a*a*[bc]${id}x${i}`);
    const slow = (id: number) => ({ path: { type: 'regex', includes: includes(id), excludes: [] } }) as const;
    const ids = Array.from({ length: 10 }, (_, i) => i + 1);
    const rate = { requests: 9, period_seconds: 60, key: 'ip', action: 'block', block_seconds: 0 } as const;
    await serve([
      ...ids.map((id) => madeRule('drop', id, { ...EVERYWHERE, ...slow(id) })),
      ...ids.map((id) => madeRule('rate_limit', 100 + id, { ...rate, ...slow(id) })),
    ]);
    const told = nginx.edge.unsupported();
    expect(told.map(({ rule_id: id }) => id).sort((a, b) => a - b)).toEqual([
      7, 8, 9, 10, 107, 108, 109, 110,
    ]);
    expect(told[0]?.why).toContain('searched for');
    const plain = (i: number) =>
      ({ path: { type: 'wildcard', includes: [`/old/${i}/*`], excludes: [] } }) as const;
    const to = { target: '/new', status_code: 301, preserve_query: false, preserve_path: false } as const;
    await serve(Array.from({ length: 1_000 }, (_, i) => madeRule('redirect', i + 1, { ...to, ...plain(i) })));
    expect(nginx.edge.unsupported()).toEqual([]);
    expect((await askEdge(nginx, `${WWW}/old/999/x`)).headers.location).toBe('/new');
  });

  it('puts no other host into a redirect, also for those who read "\\" as "/"', async () => {
    const to = { target: '/', status_code: 302, preserve_query: false, preserve_path: true } as const;
    await serve([madeRule('redirect', 1, to)]);
    for (const path of ['/\\evil.example', '//evil.example', '/\\/evil.example', '/\\\\evil.example'])
      expect((await askEdge(nginx, WWW + path)).headers.location, path).toBe('/evil.example');
  });
});
