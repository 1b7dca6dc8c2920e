import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CacheReport } from '../../../agent/cache/report-cache.mjs';
import { cacheFolder, dropFormerCaches, purgeCache } from '../../../agent/purge-cache.mjs';
import { refreshUrl } from '../../../agent/refresh-url.mjs';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { DOMAIN, type EdgeFleet, HOST, ORIGINS, startEdgeFleet } from '../../support/edge/edge-fleet.ts';
import { madeConfig, madeHost, madeOrigin, madeRule } from '../../support/edge/made-config.ts';
import { startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx, type ServedNginx, serveNginx } from '../../support/edge/nginx/served-nginx.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { until } from '../../support/tests/until.ts';

type Row = Record<string, string | number>;

const rowsOf = async (fleet: EdgeFleet, query = '') =>
  (await fleet.ask('GET', `/domains/${DOMAIN}/cache/keys?dir=asc${query}`)).body.rows as Row[];
const showing = (fleet: EdgeFleet, urls: readonly string[], log = () => '') =>
  until(
    async () =>
      JSON.stringify((await rowsOf(fleet)).map(({ path, query }) => `${path}?${query}`).sort()) ===
      JSON.stringify([...urls].sort()),
    () => `rows of ${urls.join(' ')}; ${log()}`,
  );

describe.skipIf(!hasNginx)('the cache of nginx', () => {
  let origin: TestOrigin;
  let nginx: ServedNginx;
  let count = 0;
  const to = () => madeOrigin({ destination: '127.0.0.1', port: origin.port });
  const rule = {
    ttl_seconds: 600,
    key_query_list: [],
    key_headers: ['X-Kind'],
    bypass: false,
    respect_origin: false,
  };
  const config = () =>
    madeConfig('shop.example', {
      hosts: ['www', 'pic', '*'].map((label) => madeHost(`${label}.shop.example`, to())),
      rules: [madeRule('cache', 1, { ...rule, key_query: 'all' as const })],
    });

  beforeAll(async () => {
    origin = await startOrigin('main', '127.0.0.1');
    origin.says(() => ({ body: `answer ${++count}` }));
    nginx = await serveNginx();
    expect([...(await nginx.take(config())).refused]).toEqual([]);
  });
  afterAll(async () => {
    await nginx?.stop();
    await origin?.stop();
  });

  it('is read from the heads of its files and reported once, and so are deletions', async () => {
    const sent: Row[][] = [];
    const report = new CacheReport(nginx.state, async (entries) => void sent.push(entries as Row[]));
    const before = Date.now();
    await askEdge(nginx, 'http://www.shop.example/a%20b?x=1&y');
    await askEdge(nginx, 'http://img.shop.example/c', { headers: { 'X-Kind': 'tall' } });
    await report.look([config()]);
    expect(sent.shift()).toMatchObject([{ op: 'cleared', domain_id: config().domain_id }]);
    const told = (sent.shift() ?? []).sort((one, other) =>
      (one.host as string).localeCompare(other.host as string),
    );
    expect(told).toMatchObject([
      {
        op: 'stored',
        host: 'img.shop.example',
        path: '/c',
        query: '',
        hostname: '*.shop.example',
        variant: 'http tall',
      },
      {
        op: 'stored',
        host: 'www.shop.example',
        path: '/a%20b',
        query: 'x=1&y',
        hostname: 'www.shop.example',
        method: 'GET',
      },
    ]);
    for (const { cached_at, expires_at, size, store_path, key_hash } of told) {
      const lives = Date.parse(expires_at as string) - Date.parse(cached_at as string);
      expect(Math.abs(lives - 600_000)).toBeLessThan(2000);
      expect(Date.parse(cached_at as string)).toBeGreaterThan(before - 2000);
      expect(size).toBeGreaterThan(100);
      expect((store_path as string).endsWith(`/${key_hash}`)).toBe(true);
    }
    await report.look([config()]);
    expect(sent).toEqual([]); // nothing is new
    const { hostname, store_path, key_hash } = told[0] as Record<string, string>;
    const target = { kind: 'stored', hostname, store_path } as Parameters<typeof purgeCache>[1];
    expect(await purgeCache(folder(), target)).toBe(1);
    await report.look([config()]);
    expect(sent).toMatchObject([[{ op: 'evicted', domain_id: config().domain_id, key_hash }]]);
    await report.look([]);
    expect(sent.at(-1)).toMatchObject([{ op: 'cleared', domain_id: config().domain_id }]);
  });

  it('never leads out of its folder by a customer’s path', async () => {
    const hash = 'a'.repeat(32);
    for (const store_path of [`../../${hash}`, `/etc/${hash}`, 'x', `0/../${hash}`, `0/aa/${hash}\n`])
      expect(await purgeCache(folder(), { kind: 'stored', hostname: 'www.shop.example', store_path })).toBe(
        0,
      );
  });

  it('has a new response after a URL is refreshed', async () => {
    const before = (await askEdge(nginx, 'http://www.shop.example/r')).text;
    const url = { host: 'www.shop.example', path: '/r', query: '' };
    await purgeCache(folder(), { kind: 'url', ...url });
    const asked = count;
    await refreshUrl(`127.0.0.1:${nginx.httpPort}`, url);
    expect(count).toBe(asked + 1);
    const { text, headers } = await askEdge(nginx, 'http://www.shop.example/r');
    expect([text === before, headers['x-cache'], count]).toEqual([false, 'HIT', asked + 1]);
  });

  const folder = () => cacheFolder(nginx.state, config().domain_id);
  const URLS = [
    'http://www.shop.example/a',
    'http://www.shop.example/a?x=1',
    'http://www.shop.example/a%20b/c',
    'http://pic.shop.example/a',
  ];
  const getAll = async () => {
    const found: string[] = [];
    for (const url of URLS) found.push((await askEdge(nginx, url)).text);
    return found;
  };
  const renewed = async (target: Parameters<typeof purgeCache>[1]) => {
    const before = await getAll();
    expect(await getAll()).toEqual(before);
    const gone = await purgeCache(folder(), target);
    const after = await getAll();
    const which = URLS.flatMap((_, at) => (after[at] === before[at] ? [] : [at]));
    expect(which).toHaveLength(gone);
    return which;
  };

  it('loses the entries of a purge, and keeps the others', async () => {
    await purgeCache(folder(), { kind: 'all' });
    const host = 'www.shop.example';
    expect(await renewed({ kind: 'url', host, path: '/a', query: '' })).toEqual([0, 1]);
    expect(await renewed({ kind: 'url', host, path: '/%61%20b/c', query: '' })).toEqual([2]);
    expect(await renewed({ kind: 'prefix', host, path: '/a%20b' })).toEqual([2]);
    expect(await renewed({ kind: 'prefix', host, path: '/' })).toEqual([0, 1, 2]);
    expect(await renewed({ kind: 'host', host: 'pic.shop.example' })).toEqual([3]);
    expect(await renewed({ kind: 'host', host: '*.shop.example' })).toEqual([0, 1, 2, 3]);
    expect(await renewed({ kind: 'host', host: 'shop.example' })).toEqual([]);
    expect(await renewed({ kind: 'all' })).toEqual([0, 1, 2, 3]);
  });

  it('is deleted if its domain is no longer served', async () => {
    const before = await getAll();
    await dropFormerCaches(nginx.state, new Set([config().domain_id, 7]));
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
  it('reports what nginx has cached, deletes purged entries and obeys new rules, after a restart too', async () => {
    const fleet = await startEdgeFleet();
    const agent = await startAgent({ api: fleet.api.url, token: fleet.token, allowOrigins: [ORIGINS] });
    try {
      fleet.own.says(() => ({ body: 'x' }));
      await fleet.change('POST', '/rules/cache/', { ttl_seconds: 600, path_excludes: ['/while-away'] });
      const hit = async (path: string) =>
        (await askEdge(agent, `http://${HOST}${path}`)).headers['x-cache'] === 'HIT';
      await until(() => hit('/one'), 'nginx caches');
      await until(() => hit('/two?x=1'), 'nginx caches');
      await showing(fleet, ['/one?', '/two?x=1'], agent.log);
      await agent.kill();
      const { purge } = (await fleet.ask('DELETE', `/domains/${DOMAIN}/cache/`)).body;
      expect(await hit('/one')).toBe(true);
      await fleet.change('POST', '/rules/redirect/', { target: '/later', path_includes: ['/while-away'] });
      await agent.restart();
      const isRedirected = async () => (await askEdge(agent, `http://${HOST}/while-away`)).status === 302;
      await until(isRedirected, 'the rule made meanwhile is obeyed');
      const progress = async () =>
        (await fleet.ask('GET', `/domains/${DOMAIN}/cache/purges/${purge.id}`)).body;
      await until(
        async () => (await progress()).nodes[0].done_at !== undefined,
        () => `purge ${purge.id}: ${agent.log()}`,
      );
      await showing(fleet, [], agent.log);
      for (const path of ['/three', '/two?x=1']) await until(() => hit(path), 'nginx caches');
      await showing(fleet, ['/three?', '/two?x=1'], agent.log);
      const [row] = await rowsOf(fleet, '&path=/two');
      const { hostname, store_path } = row as Row;
      await fleet.change('DELETE', '/cache/', { hostname, store_path });
      await showing(fleet, ['/three?'], agent.log);
    } finally {
      await agent.stop();
      await fleet.stop();
    }
  });
});
