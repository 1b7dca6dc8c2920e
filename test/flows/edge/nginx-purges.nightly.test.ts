// Purges that docs/edge-agent carries out in nginx's cache: which files go, and through the API and a whole agent.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cacheFolder, dropFormerCaches, purgeCache } from '../../../docs/edge-agent/purge-cache.mjs';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { DOMAIN, EdgeFleet, HOST, ORIGINS } from '../../support/edge/edge-fleet.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx, type ServedNginx, serveNginx } from '../../support/edge/nginx/served-nginx.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { until } from '../../support/tests/until.ts';

describe.skipIf(!hasNginx)('the cache of nginx', () => {
  let origin: TestOrigin;
  let nginx: ServedNginx;
  let folder: string;
  let count = 0;
  const hosts = ['www.shop.example', 'img.shop.example'];

  beforeAll(async () => {
    origin = await startOrigin('main', '127.0.0.1');
    origin.says(() => ({ body: String(++count) }));
    nginx = await serveNginx();
    const to = madeOrigin({ destination: '127.0.0.1', port: origin.port });
    const rule = {
      ttl_seconds: 600,
      key_query_list: [],
      key_headers: [],
      bypass: false,
      respect_origin: false,
    } as const;
    const config = madeConfig('shop.example', {
      hosts: hosts.map((host) => madeHost(host, to)),
      rules: [madeRule('cache', 1, { ...rule, key_query: 'all' })],
    });
    const { refused } = await nginx.take(config);
    expect([...refused]).toEqual([]);
    folder = cacheFolder(nginx.state, config.domain_id);
  });
  afterAll(async () => {
    await nginx?.stop();
    await origin?.stop();
  });

  const URLS = [
    'http://www.shop.example/a',
    'http://www.shop.example/a?x=1',
    'http://www.shop.example/a%20b/c',
    'http://img.shop.example/a',
  ];
  const getAll = async () => {
    const found: string[] = [];
    for (const url of URLS) found.push((await askEdge(nginx, url)).text);
    return found;
  };
  const renewed = async (target: Parameters<typeof purgeCache>[1]) => {
    const before = await getAll();
    expect(await getAll()).toEqual(before);
    const gone = await purgeCache(folder, target);
    const after = await getAll();
    const which = URLS.flatMap((_, at) => (after[at] === before[at] ? [] : [at]));
    expect(which).toHaveLength(gone);
    return which;
  };

  it('loses what was asked for, and the rest stays', async () => {
    const host = 'www.shop.example';
    expect(await renewed({ kind: 'url', host, path: '/a', query: '' })).toEqual([0, 1]);
    expect(await renewed({ kind: 'url', host, path: '/%61%20b/c', query: '' })).toEqual([2]);
    expect(await renewed({ kind: 'prefix', host, path: '/a%20b' })).toEqual([2]);
    expect(await renewed({ kind: 'prefix', host, path: '/' })).toEqual([0, 1, 2]);
    expect(await renewed({ kind: 'host', host: 'img.shop.example' })).toEqual([3]);
    expect(await renewed({ kind: 'host', host: '*.shop.example' })).toEqual([0, 1, 2, 3]);
    expect(await renewed({ kind: 'host', host: 'shop.example' })).toEqual([]);
    expect(await renewed({ kind: 'all' })).toEqual([0, 1, 2, 3]);
  });

  it('of a domain that is served no more goes, and others keep theirs', async () => {
    const before = await getAll();
    await dropFormerCaches(nginx.state, new Set([1, 2, 3, ...[Number(/zf_(\d+)_cache/.exec(folder)?.[1])]]));
    expect(await getAll()).toEqual(before);
    await dropFormerCaches(nginx.state, new Set());
    const after = await getAll();
    expect(after.filter((text, at) => text === before[at])).toEqual([]);
  });

  it('may have no folder yet', async () => {
    expect(await purgeCache(cacheFolder(nginx.state, 999), { kind: 'all' })).toBe(0);
  });
});

describe.skipIf(!hasNginx)('the agent for nginx', () => {
  it('carries out what an owner orders and reports it, after a restart too', async () => {
    const fleet = await EdgeFleet.start();
    const agent = await startAgent({ api: fleet.api.url, token: fleet.token, allowOrigins: [ORIGINS] });
    try {
      let count = 0;
      fleet.own.says(() => ({ body: String(++count) }));
      const { status } = await fleet.ask('POST', `/domains/${DOMAIN}/rules/cache/`, { ttl_seconds: 600 });
      expect(status).toBe(200);
      const get = async () => await askEdge(agent, `http://${HOST}/page`);
      await until(async () => (await get()).headers['x-cache'] === 'HIT', 'nginx caches');
      const purge = async () =>
        (await fleet.ask('DELETE', `/domains/${DOMAIN}/cache/`)).body.purge.id as number;
      const finish = (id: number) =>
        until(
          async () =>
            (await fleet.ask('GET', `/domains/${DOMAIN}/cache/purges/${id}`)).body.nodes[0].done_at !==
            undefined,
          () => `purge ${id}: ${agent.log()}`,
        );
      const first = (await get()).text;
      await finish(await purge());
      const second = (await get()).text;
      expect(second).not.toBe(first);
      await agent.kill();
      const id = await purge();
      expect((await get()).text).toBe(second);
      await agent.restart();
      await finish(id);
      expect((await get()).text).not.toBe(second);
    } finally {
      await agent.stop();
      await fleet.stop();
    }
  });
});
