import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadOpenPurges } from '../../../src/features/cache/sql-purges.ts';
import { RETENTION_OF_FEATURES } from '../../../src/features/every-feature.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { drainEdge, revokeEdge } from '../../../src/store/edges/edges.ts';
import { deleteOld } from '../../../src/store/housekeeping/retention.ts';
import { ownApi } from '../../support/api/api.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import { storedEntry } from '../../support/edge/stored-entry.ts';
import { until } from '../../support/tests/until.ts';

const api = ownApi(() => startEdgeApi());
let domain: Domain;
let name: string;
let made = 0;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  tokens.fra = await api.makeEdge('fra', 'eu');
  tokens.ber = await api.makeEdge('ber', 'eu');
  tokens.nyc = await api.makeEdge('nyc', 'us');
});
beforeEach(async () => {
  name = `shop${made++}.test`;
  domain = await api.makeDomain(name);
  await api.query`delete from cache_purges`;
  await api.query`update edges set seen_at = clock_timestamp()`;
});

const purge = (body?: object, as = 'owner', of = name) =>
  api.ask('DELETE', `/domains/${of}/cache/`, { as, ...(body !== undefined && { body }) });
const look = (id: number, as = 'viewer', of = name) =>
  api.ask('GET', `/domains/${of}/cache/purges/${id}`, { as });
const report = (edge: string, id: number, body: object = {}) =>
  api.ask('POST', `/edge/v1/purges/${id}`, { as: tokens[edge] as string, body });

const ORDERED = {
  message: expect.stringMatching(/ is sent to the edges$/),
  purge: { id: expect.any(Number), edges: 3, done: 0 },
};

interface Line {
  readonly id?: number;
  readonly domain?: string;
}

/** Reads the lines of an edge's stream until `wanted` of them are not heartbeats, or until it ends. */
async function told(token: string, wanted: number): Promise<Line[]> {
  const ended = new AbortController();
  const response = await fetch(`${api.url}/edge/v1/purges`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ended.signal,
  });
  expect(response.status).toBe(200);
  const lines: Line[] = [];
  let rest = '';
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  while (lines.filter(({ id }) => id !== undefined).length < wanted) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + Buffer.from(value).toString()).split('\n');
    rest = parts.pop() as string;
    lines.push(...parts.map((line) => JSON.parse(line)));
  }
  await reader.cancel().catch(() => undefined);
  ended.abort();
  return lines.filter(({ id }) => id !== undefined);
}

const following = async (edge: string, id: number) =>
  (await loadOpenPurges(api.db, [await edgeId(edge)])).find((open) => open.id === id);
const edgeId = async (edge: string) => {
  const rows = await api.query<{ id: number }>`select id from edges where name = ${edge}`;
  return rows[0]?.id as number;
};

describe('a purge', () => {
  it('without a body is a purge of everything, and reports the number of edges', async () => {
    const before = await lastAudit(api.db);
    const { status, body } = await purge();
    expect([status, body]).toEqual([200, ORDERED]);
    const [row] = await auditAfter(api.db, before);
    expect(row).toMatchObject({ action: 'cache.purge', after: { purge: body.purge.id } });
  });

  it('is rejected with the name of the wrong field', async () => {
    const { status, body } = await purge({ url: 'https://other.test/' });
    expect([status, body.code, body.fields[0].field]).toEqual([400, 'validation_failed', 'url']);
    expect((await purge({ everything: true })).body.fields[0].field).toBe('everything');
  });

  it('of an entry of the registry is sent with hostname and store_path, and deletes the entry', async () => {
    const entry = (key_hash: string, store_path: string) =>
      storedEntry(`www.${name}`, { key_hash, store_path, hostname: `*.${name}` });
    const { body: told } = await api.ask('POST', '/edge/v1/cache', {
      as: tokens.fra as string,
      body: { entries: [entry('a', '/a b%/1'), entry('b', '/b')] },
    });
    expect(told.stored).toBe(2);
    const keys = async () =>
      (await api.ask('GET', `/domains/${name}/cache/keys?dir=asc`)).body.rows as Record<string, string>[];
    const row = (await keys()).find(({ key_hash }) => key_hash === 'a');
    const { hostname, store_path } = row as Record<string, string>;
    const before = await lastAudit(api.db);
    const { status, body } = await purge({ hostname, store_path });
    expect(status).toBe(200);
    const [audited] = await auditAfter(api.db, before);
    expect(audited).toMatchObject({ after: { purge: body.purge.id, hostname, store_path } });
    const target = { kind: 'stored', hostname, store_path };
    expect(await following('ber', body.purge.id)).toMatchObject({ target });
    expect(await keys()).toHaveLength(2); // the edge still has it
    await report('ber', body.purge.id);
    await report('fra', body.purge.id, { error: 'EIO' });
    expect(await keys()).toHaveLength(2);
    await report('fra', body.purge.id);
    await until(async () => (await keys()).length === 1, 'the row is gone');
    expect((await keys())[0]).toMatchObject({ key_hash: 'b' });
    expect((await purge({ hostname })).body.fields?.[0].field).toBe('store_path');
  });

  it('that is a refresh is sent as one, and counts against the same limit', async () => {
    const refresh = (body: object) => api.ask('POST', `/domains/${name}/cache/refresh`, { body });
    const { status, body } = await refresh({ url: `https://${name}/a?x=1` });
    expect([status, body]).toEqual([200, ORDERED]);
    const target = { kind: 'url', host: name, path: '/a', query: 'x=1', refresh: true };
    expect(await following('fra', body.purge.id)).toMatchObject({ target });
    await report('fra', body.purge.id);
    expect((await look(body.purge.id)).body.done).toBe(1);
    for (const wrong of [{}, { url: 'https://other.test/' }])
      expect((await refresh(wrong)).body.fields[0].field).toBe('url');
    expect((await refresh({ url: `https://${name}/`, host: name })).status).toBe(400);
    await api.query`insert into cache_purges (domain_id, target) select ${domain.id}, '{"kind":"all"}' from generate_series(1, 30)`;
    expect((await refresh({ url: `https://${name}/` })).status).toBe(429);
  });

  it('is finished when every online edge has completed it; an offline edge does it later', async () => {
    await api.query`update edges set seen_at = clock_timestamp() - interval '5 minutes' where name = 'nyc'`;
    const { id } = (await purge({ host: `www.${name}` })).body.purge;
    expect((await look(id)).body).toMatchObject({ edges: 2, done: 0, finished: false });
    expect((await report('fra', id)).status).toBe(200);
    expect((await report('ber', id, { error: 'the disk is full' })).status).toBe(200);
    const { body } = await look(id);
    expect(body).toMatchObject({ edges: 2, done: 1, finished: false });
    expect(body.nodes).toEqual([
      { node: 'ber', live: true, error: 'the disk is full' },
      { node: 'fra', live: true, done_at: expect.any(String) },
      { node: 'nyc', live: false },
    ]);
    expect((await told(tokens.ber as string, 1)).at(-1)).toMatchObject({ id });
    await report('ber', id);
    await report('ber', id); // a repeat is harmless
    expect((await look(id)).body).toMatchObject({ edges: 2, done: 2, finished: true });
    expect((await told(tokens.nyc as string, 1)).map((line) => line.id)).toContain(id);
  });

  it('is sent to an edge that follows, and to one that connects later', async () => {
    const following = told(tokens.fra as string, 1);
    const { id } = (await purge({ url: `https://${name}/a?b=1` })).body.purge;
    const line = { id, domain_id: domain.id, domain: name };
    const target = { kind: 'url', host: name, path: '/a', query: 'b=1' };
    const heard = await following;
    const later = await told(tokens.ber as string, 1);
    for (const lines of [heard, later]) expect(lines).toContainEqual({ ...line, target });
  });

  it('is sent to the edges of the regions that serve the domain, drained ones included', async () => {
    await setServedRegions(api.db, domain.id, ['us']);
    await drainEdge(api.db, 'nyc', true);
    const { id } = (await purge()).body.purge;
    expect((await look(id)).body.nodes.map(({ node }: { node: string }) => node)).toEqual(['nyc']);
    expect((await report('fra', id)).status).toBe(404);
    await drainEdge(api.db, 'nyc', false);
  });

  it('of everything replaces earlier ones', async () => {
    const first = (await purge({ host: name })).body.purge.id;
    const second = (await purge()).body.purge.id;
    const rows = await api.query<{ id: number }>`
      select distinct purge_id as id from cache_purge_edges where purge_id in (${first}, ${second})`;
    expect(rows.map(({ id }) => id)).toEqual([second]);
    expect((await look(first)).body).toMatchObject({ finished: false, replaced_by: second });
    const third = (await purge()).body.purge.id;
    expect((await look(first)).body.replaced_by).toBe(second);
    expect((await look(second)).body.replaced_by).toBe(third);
    for (const edge of ['fra', 'ber', 'nyc']) await report(edge, third);
    const last = (await purge()).body.purge.id;
    const { body } = await look(third);
    expect([body.finished, body.replaced_by, last > third]).toEqual([true, undefined, true]);
  });

  it('is not delayed by many purges of another domain, or by failed ones', async () => {
    const rows = await api.query<{ id: number }>`
      with many as (
        insert into cache_purges (domain_id, target, at)
        select ${domain.id}, '{"kind":"host","host":"a"}', clock_timestamp() - interval '1 hour'
        from generate_series(1, 400) returning id)
      insert into cache_purge_edges (purge_id, edge_id, error)
      select m.id, e.id, case when m.id % 2 = 0 then 'EIO' end from many m, edges e where e.name = 'fra'
      returning purge_id as id`;
    expect(rows).toHaveLength(400);
    const victim = `victim-${name}`;
    await api.makeDomain(victim);
    const { id } = (await purge(undefined, 'owner', victim)).body.purge;
    const edges = await api.query<{ id: number }>`select id from edges where name = 'fra'`;
    const open = await loadOpenPurges(api.db, [edges[0]?.id as number]);
    expect(open).toHaveLength(200);
    expect(open.findIndex((each) => each.id === id)).toBe(1);
    const failed = new Set(rows.flatMap((row) => (row.id % 2 === 0 ? [row.id] : [])));
    expect(open.filter((each) => failed.has(each.id))).toEqual([]);
  });

  it('is limited to thirty per minute and two hundred open ones', async () => {
    const id = domain.id;
    await api.query`insert into cache_purges (domain_id, target) select ${id}, '{"kind":"all"}' from generate_series(1, 30)`;
    const often = await purge();
    expect(often).toMatchObject({ status: 429, body: { error: 'rate limit exceeded' } });
    expect(often.headers['retry-after']).toBe('60');
    await api.query`
      with old as (
        insert into cache_purges (domain_id, target, at)
        select ${id}, '{"kind":"host","host":"a"}', clock_timestamp() - interval '1 hour' from generate_series(1, 200)
        returning id),
      gone as (delete from cache_purges where domain_id = ${id} and at > clock_timestamp() - interval '1 minute')
      insert into cache_purge_edges (purge_id, edge_id) select o.id, e.id from old o, edges e where e.name = 'nyc'`;
    const error = expect.stringContaining('purge the whole domain');
    expect(await purge({ host: name })).toMatchObject({ status: 429, body: { error } });
    expect((await purge()).status).toBe(200);
  });

  it('requires a plan that includes it, as a refresh does; browsing does not', async () => {
    const overrides = { cache_purge_enabled: false };
    await setPlan(api.db, { domainId: domain.id, planSlug: 'free', overrides });
    const refresh = { body: { url: `https://${name}/` } };
    const shut = { status: 403, body: { code: 'plan_feature', feature: 'cache_purge_enabled' } };
    expect(await purge()).toMatchObject(shut);
    expect(await api.ask('POST', `/domains/${name}/cache/refresh`, refresh)).toMatchObject(shut);
    expect((await api.ask('GET', `/domains/${name}/cache/keys`)).status).toBe(200);
  });

  it('is deleted after eight days, when nothing older can be cached', async () => {
    const { id } = (await purge()).body.purge;
    for (const [age, status] of [
      ['7 days 23 hours', 200],
      ['2 hours', 404],
    ] as const) {
      await api.query`update cache_purges set at = at - ${age}::interval`;
      await deleteOld(api.db, RETENTION_OF_FEATURES);
      expect((await look(id)).status).toBe(status);
    }
  });
});

describe('the stream of purges', () => {
  it('ends when the edge is revoked', async () => {
    const token = await api.makeEdge('stolen');
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await fetch(`${api.url}/edge/v1/purges`, { headers });
    await revokeEdge(api.db, 'stolen');
    let text = '';
    for await (const piece of body as ReadableStream<Uint8Array>) text += Buffer.from(piece).toString();
    expect(text).toBe('{}\n');
  });

  it('accepts only reports of purges that the edge received, with a short reason', async () => {
    expect((await report('fra', 999_999)).status).toBe(404);
    for (const wrong of [{ error: 'x'.repeat(201) }, { error: 'a\u0000b' }, { done: true }])
      expect((await report('fra', 1, wrong)).status).toBe(400);
  });
});
