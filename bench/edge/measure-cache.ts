// Measures the caches of edges: the time until every edge receives a purge, and the cost of a page of a full registry.

import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { call } from '../api/api-under-test.ts';
import type { BenchOptions } from '../part.ts';
import { runOn } from '../postgres/cluster.ts';
import { say } from '../say.ts';
import { makeEdges, preparedDatabase, startApi } from './measure-edges.ts';

const DOMAINS = 8;
/** Fewer than a domain may request per minute. */
const PURGES_EACH = 25;
const PAGE_RUNS = 3;

export interface MeasuredCache {
  /** From the call until the last of the edges has received it, in milliseconds. */
  readonly purges: readonly number[];
  readonly entries: number;
  readonly pages: readonly {
    readonly what: string;
    readonly total: number;
    readonly ms: readonly number[];
  }[];
}

const PAGES = [
  ['the newest 100', ''],
  ['1,000, the largest first', '?limit=1000&sort=size'],
  ['the last 100 by offset', '?offset=999900'],
  ['offset 1,000,000,000', '?offset=1000000000'],
  ['sorted by path', '?sort=path'],
  ['the last 100 by offset, sorted by path', '?sort=path&offset=999900'],
  ['one host of 100', '?host=h7.*'],
  ['part of a path, in one of 1,000 entries', '?path=/77/'],
  ['part of a path, in no entry', '?path=nowhere'],
  ['path *a*a*a*a*', '?path=*a*a*a*a*'],
] as const;

export async function measureCache(entries: number, options: BenchOptions): Promise<MeasuredCache> {
  const databaseUrl = await preparedDatabase('cache');
  const key = generateKey();
  const headers = { authorization: `Bearer ${key}` };
  const env = { ORIGIN_ALLOW: '127.0.0.0/8' };
  const { url, program } = await startApi(databaseUrl, key, options.serverCpu, env);
  const stopped = new AbortController();
  const following: Promise<void>[] = [];
  try {
    const domains = await makeDomains(url, headers, databaseUrl);
    let received: () => void = () => {};
    for (const token of await makeEdges(databaseUrl)) {
      const response = await fetch(`${url}/edge/v1/purges`, {
        headers: { authorization: `Bearer ${token}` },
        signal: stopped.signal,
      });
      if (response.status !== 200) throw new Error(`purges: ${response.status}`);
      following.push(followPurges(response, () => received()));
    }
    say('purges');
    const purges: number[] = [];
    for (let i = 0; i < DOMAINS * PURGES_EACH; i++) {
      const domain = domains[i % DOMAINS] as string;
      const page = `http://www.${domain}/${i}`;
      const all = new Promise<void>((resolve) => {
        let done = 0;
        received = () => {
          if (++done === following.length) resolve();
        };
      });
      const beganMs = performance.now();
      await call(`${url}/domains/${domain}/cache/`, { headers, method: 'DELETE', body: { url: page } });
      await all;
      purges.push(performance.now() - beganMs);
    }
    say(`${entries} entries`);
    await fill(databaseUrl, domains[0] as string, entries);
    const pages: MeasuredCache['pages'][number][] = [];
    for (const [what, query] of PAGES) {
      say(what);
      const ms: number[] = [];
      let total = 0;
      for (let run = 0; run < PAGE_RUNS; run++) {
        const beganMs = performance.now();
        const text = await call(`${url}/domains/${domains[0]}/cache/keys${query}`, { headers });
        ms.push(performance.now() - beganMs);
        total = JSON.parse(text).total;
      }
      pages.push({ what, total, ms });
    }
    return { purges, entries, pages };
  } finally {
    stopped.abort();
    await Promise.allSettled(following);
    await program.stop();
  }
}

/** Calls `received` for each purge, without reporting it as done. */
async function followPurges(response: Response, received: () => void): Promise<void> {
  let rest = '';
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (JSON.parse(line).id !== undefined) received();
  }
}

/** Each has a proxied name and keeps what it answers. */
async function makeDomains(
  url: string,
  headers: Record<string, string>,
  databaseUrl: string,
): Promise<string[]> {
  await runOn(
    databaseUrl,
    'update plans set rules_enabled = true, cache_purge_enabled = true, max_domains = null, max_rules_per_set = null',
  );
  const post = (path: string, body: object) => call(`${url}${path}`, { headers, method: 'POST', body });
  const domains = Array.from({ length: DOMAINS }, (_, i) => `cache${i}.example.net`);
  for (const name of domains) await post('/domains/', { name, scan: false });
  await runOn(
    databaseUrl,
    `update domains set served = 'full', status = 'active', plan_id = (select id from plans where slug = 'pro')`,
  );
  const record = {
    name: 'www',
    type: 'A',
    destination: '127.0.0.1',
    port: 80,
    scheme: 'Http',
    proxied: true,
  };
  for (const name of domains) {
    await post(`/domains/${name}/records/`, record);
    await post(`/domains/${name}/rules/cache/`, { ttl_seconds: 3600 });
  }
  return domains;
}

async function fill(databaseUrl: string, domain: string, entries: number): Promise<void> {
  await runOn(
    databaseUrl,
    `insert into cached_entries (domain_id, node, host, path, query, variant, method, hostname, store_path, key_hash,
       cache_key, l2_key, size, cached_at, expires_at)
     select d.id, 'edge-' || i % 3 + 1, 'h' || i % 100 || '.${domain}', '/' || i % 1000 || '/' || md5(i::text) || '/a.css', 'v=' || i, '', 'GET',
       '*.${domain}', '/' || left(md5(i::text), 2) || '/' || md5('s' || i), md5('k' || i), 'https://h/' || i, '', (i::bigint * 7919) % 1000003,
       now() - i * interval '0.05 s', now() + interval '1 day' + i * interval '0.1 s'
     from domains d, generate_series(1, ${entries}) i where d.name = '${domain}.'`,
    `update cached_domains set entries = (select count(*) from cached_entries e where e.domain_id = cached_domains.domain_id)`,
    'vacuum (analyze) cached_entries',
  );
}
