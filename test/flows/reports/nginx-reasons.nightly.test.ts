// Log lines of nginx for requests without a response of an origin, and what the API receives about them.

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printLine } from '../../../agent/requests/request-line.mjs';
import { judgeLine } from '../../../src/edge/requests/request-line.ts';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { hasNginx, type ServedNginx, serveNginx } from '../../support/edge/nginx/served-nginx.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { until } from '../../support/tests/until.ts';

const DOMAIN = 'shop.example';
const at = (include: string) => ({ path: { type: 'wildcard', includes: [include], excludes: [] } }) as const;
const WAF = { paranoia: 1, threshold: 5, body_cap_kb: 64, rule_excludes: [] } as const;
const RATE = { requests: 1, period_seconds: 60, key: 'ip', action: 'block', block_seconds: 0 } as const;
const ATTACK = "?id=1'%20OR%20'1'='1";

describe.skipIf(!hasNginx)('nginx', () => {
  let origin: TestOrigin;
  let nginx: ServedNginx;
  /** Accepts connections and closes them. */
  const mute = createServer((socket) =>
    socket.on('error', () => undefined).on('data', () => socket.destroy()),
  );

  beforeAll(async () => {
    origin = await startOrigin('main', '127.0.0.1');
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    nginx = await serveNginx();
    const place = { destination: '127.0.0.1', port: origin.port };
    const mutePort = (mute.address() as AddressInfo).port;
    const on = (...names: string[]) => ({ hosts: names.map((name) => `${name}.${DOMAIN}`) });
    const config = madeConfig(DOMAIN, {
      hosts: [
        ...['waf', 'one', 'two', 'both'].map((name) => madeHost(`${name}.${DOMAIN}`, madeOrigin(place))),
        madeHost(`tls.${DOMAIN}`, madeOrigin({ ...place, scheme: 'https' })),
        madeHost(`mute.${DOMAIN}`, madeOrigin({ ...place, port: mutePort })),
        madeHost(`closed.${DOMAIN}`, madeOrigin({ ...place, port: 1 })),
        madeHost(`denied.${DOMAIN}`, madeOrigin({ ...place, destination: '127.0.0.66' })),
      ],
      rules: [
        madeRule('waf', 11, { ...WAF, action_mode: 'dry_run', ...on('waf'), ...at('/try') }),
        madeRule('waf', 12, { ...WAF, ...on('waf'), ...at('/x') }),
        madeRule('waf', 13, { ...WAF, ...on('both') }),
        madeRule('rate_limit', 21, { ...RATE, ...on('one'), ...at('/limited') }),
        madeRule('rate_limit', 24, { ...RATE, ...on('both'), ...at('/limited') }),
        madeRule('rate_limit', 22, { ...RATE, ...on('two'), ...at('/limited') }),
        madeRule('rate_limit', 23, { ...RATE, ...on('two'), ...at('/other') }),
      ],
    });
    expect([...(await nginx.take(config)).refused]).toEqual([]);
    expect(nginx.edge.unsupported()).toEqual([]);
  });
  afterAll(async () => {
    await nginx?.stop();
    await origin?.stop();
    mute.close();
  });

  const linesOf = () =>
    readFileSync(join(nginx.state, 'reports/requests.log'), 'utf8')
      .split('\n')
      .flatMap((text) => printLine(text) ?? []);

  it.each<[string, string, number, object]>([
    ['a request that the WAF blocked', `waf/x${ATTACK}`, 403, { rule: 12, reason: 'rule_blocked' }],
    ['a request that the WAF would have blocked', `waf/try${ATTACK}`, 200, { rule: 0, reason: '' }],
    ['a request that the WAF allowed', 'waf/y', 200, { rule: 0, reason: '' }],
    ['a request within a rate limit', 'one/limited', 200, { rule: 0, reason: '' }],
    ['a request beyond a rate limit', 'one/limited?2', 429, { rule: 21, reason: 'rule_limited' }],
    ['a request within both rate limits', 'two/limited', 200, { rule: 0, reason: '' }],
    ['a request beyond one of two rate limits', 'two/limited?2', 429, { rule: 0, reason: 'rule_limited' }],
    [
      'a request within a rate limit that the WAF blocked',
      `both/limited${ATTACK}`,
      403,
      { rule: 13, reason: 'rule_blocked' },
    ],
    [
      'a request beyond a rate limit before the WAF',
      `both/limited${ATTACK}&2`,
      429,
      { rule: 24, reason: 'rule_limited' },
    ],
    // nginx does not distinguish a failed handshake from a failed connection.
    ['an origin without TLS', 'tls/', 502, { reason: 'origin_unreachable' }],
    ['an origin that disconnects', 'mute/', 502, { reason: 'origin_broke_off' }],
    ['an origin that refuses connections', 'closed/', 502, { reason: 'origin_unreachable' }],
    ['an origin with a denied address', 'denied/', 502, { reason: 'no_origin' }],
  ])('reports %s', async (_, url, status, told) => {
    const [, name = '', uri = ''] = /^(\w+)(\/.*)$/.exec(url) ?? [];
    expect((await askEdge(nginx, `http://${name}.${DOMAIN}${uri}`)).status).toBe(status);
    const line = await until(() =>
      linesOf().find((each) => {
        const { host, uri: found } = JSON.parse(each);
        return host === `${name}.${DOMAIN}` && found === uri;
      }),
    );
    expect(judgeLine(line, Date.now())).toMatchObject({ status, ...told });
  });
});
