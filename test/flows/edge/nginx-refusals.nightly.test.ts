// One rule that nginx refuses, or that makes a domain's file too large, takes neither the domain nor its other rules along.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCulprits } from '../../../docs/edge-agent/find-culprits.mjs';
import type { EdgeRule } from '../../../src/edge/edge-rule.ts';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { hasNginx, type ServedNginx, serveNginx } from '../../support/edge/nginx/served-nginx.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';

const WWW = 'http://www.shop.example';
const EVERYWHERE = { country_match_type: 'include', countries: [] } as const;
const RATE = { requests: 9, period_seconds: 60, key: 'ip', action: 'block', block_seconds: 0 } as const;

const at = (include: string) => ({ path: { type: 'wildcard', includes: [include], excludes: [] } }) as const;

it('finds those that are to blame, in few tries', async () => {
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

  const take = (hosts: readonly string[], rules: readonly EdgeRule[]) => {
    const place = madeOrigin({ destination: '127.0.0.1', port: origin.port });
    return nginx.take(
      madeConfig('shop.example', { hosts: hosts.map((host) => madeHost(host, place)), rules }),
    );
  };
  const statusOf = async (path: string) => (await askEdge(nginx, `${WWW}${path}`)).status;
  const told = () =>
    nginx.edge
      .unsupported()
      .map(({ rule_id: id }) => id)
      .sort((a, b) => a - b);

  it('leaves out the rule that nginx refuses, tells it, and takes the others', async () => {
    const { settings } = nginx.edge;
    const { rateZone } = settings;
    settings.rateZone = '1k'; // nginx: the zone is too small
    const { refused } = await take(
      ['www.shop.example'],
      [
        madeRule('drop', 1, { ...EVERYWHERE, ...at('/first') }),
        madeRule('rate_limit', 2, RATE),
        madeRule('captcha', 3, { mode: 'js', valid_seconds: 60 }),
        madeRule('drop', 4, { ...EVERYWHERE, ...at('/last') }),
      ],
    );
    settings.rateZone = rateZone;
    expect([...refused]).toEqual([]);
    expect(told()).toEqual([2, 3]);
    expect(nginx.edge.unsupported().find(({ rule_id: id }) => id === 2)?.why).toContain('too small');
    expect([await statusOf('/first'), await statusOf('/last'), await statusOf('/')]).toEqual([403, 403, 200]);
  });

  it('goes on serving a domain whose file would be too large', async () => {
    const hosts = Array.from({ length: 40 }, (_, i) => `h${i}.shop.example`);
    const target = `/${'x'.repeat(3_500)}`;
    const to = { target, status_code: 301, preserve_query: false, preserve_path: false } as const;
    const many = Array.from({ length: 2_500 }, (_, i) =>
      madeRule('redirect', 10 + i, {
        ...to,
        hosts: hosts.slice(i % 40, (i % 40) + 1),
        ...at(`/${i}/${'y'.repeat(900)}`),
      }),
    );
    const { refused } = await take(
      ['www.shop.example', ...hosts],
      [madeRule('drop', 1, { ...EVERYWHERE, ...at('/first') }), ...many],
    );
    expect([...refused]).toEqual([]);
    expect([await statusOf('/first'), await statusOf('/')]).toEqual([403, 200]);
    expect(told().length).toBeGreaterThan(0);
    expect(told().length).toBeLessThan(many.length);
    expect(told()).not.toContain(1);
  });
});
