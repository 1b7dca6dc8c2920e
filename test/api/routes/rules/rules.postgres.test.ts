// The operations on rules, and the faults of a rule that need the domain. test/edge/rules.test.ts proves the values of fields.

import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, sharedTestApi } from '../../../support/api/api.ts';
import { SMALLEST } from '../../../support/rules/smallest-bodies.ts';

const api = sharedTestApi();
let domains = 0;
/** The rules of a domain that the tests of fields share, and its two records. */
const SHARED = '/domains/fields.example/rules';
let [a, b] = [0, 0];

beforeAll(async () => {
  await api.makeDomain('fields.example', { planSlug: 'pro' });
  [a, b] = [await makeRecord('a'), await makeRecord('b')];
});

const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  api.ask(method, path, body === undefined ? {} : { body });

async function makeRecord(name: string, domain = 'fields.example'): Promise<number> {
  const record = { name, type: 'A', destination: '192.0.2.7', proxied: true };
  return (await ask('POST', `/domains/${domain}/records/`, record)).body.id;
}

/** Creates a domain and returns the path of its rules. */
async function fresh(): Promise<string> {
  const name = `r${++domains}.example`;
  await api.makeDomain(name, { planSlug: 'pro' });
  return `/domains/${name}/rules`;
}

const post = (type: string, body: object = {}, path = SHARED) =>
  ask('POST', `${path}/${type}/`, { ...SMALLEST[type], ...body });
const put = ({ id, type }: { id: number; type: string }, body: unknown) =>
  ask('PUT', `${SHARED}/${type}/${id}`, body);

async function make(type: string, body: object = {}, path = SHARED): Promise<Answer['body']> {
  const answer = await post(type, body, path);
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return answer.body;
}

const idsOf = ({ body }: Answer): number[] => body.map(({ id }: { id: number }) => id);

async function faults(answer: Promise<Answer>): Promise<string[]> {
  const { status, body } = await answer;
  if (status === 200) return [];
  expect([status, body.code]).toEqual([400, 'validation_failed']);
  return body.fields.map(({ field }: { field: string }) => field);
}

describe('POST', () => {
  it.each(
    Object.keys(SMALLEST),
  )('creates a rule of type %s by both spellings; it can be sent back', async (type) => {
    const first = await make(type, { action_mode: 'dry_run' });
    const { html: _, origins: __, ...sent } = SMALLEST[type] as { html?: string; origins?: unknown };
    expect(first).toMatchObject({ type, ...sent, action_mode: 'dry_run', record_ids: [] });
    expect(first).not.toHaveProperty('record_id');
    expect(first.created_at).toBe(first.updated_at);
    const dashed = type.replace('_', '-');
    const { body: second } = await ask('POST', `${SHARED}/${dashed}/`, SMALLEST[type]);
    for (const spelling of [type, dashed])
      expect(idsOf(await ask('GET', `${SHARED}/${spelling}/`))).toEqual(
        expect.arrayContaining([first.id, second.id]),
      );
    const { body: read } = await ask('GET', `${SHARED}/${type}/${first.id}`);
    const { status, body } = await ask('PUT', `${SHARED}/${type}/${first.id}`, { ...read, priority: 3 });
    expect(status).toBe(200);
    expect((await ask('GET', `${SHARED}/${type}/${first.id}`)).body).toEqual({
      ...read,
      priority: 3,
      updated_at: body.updated_at,
    });
  });

  it('accepts record_id as record_ids with one element', async () => {
    for (const [body, record_ids, record_id] of [
      [{}, []],
      [{ record_id: null }, []],
      [{ record_id: a }, [a], a],
      [{ record_id: a, record_ids: [a] }, [a], a],
      [{ record_id: null, record_ids: [a] }, [a], a],
      [{ record_ids: [b, a] }, [b, a]],
    ] as [body: object, ids: number[], id?: number][]) {
      const rule = await make('waf', body);
      expect([body, rule.record_ids, rule.record_id]).toEqual([body, record_ids, record_id]);
    }
    for (const body of [
      { record_id: a, record_ids: [b] },
      { record_id: a, record_ids: [a, b] },
      { record_id: 'x' },
    ])
      expect(await faults(post('waf', body))).toEqual(['record_id']);
    const rule = await make('waf', { record_id: a });
    expect((await put(rule, { record_id: null })).body.record_ids).toEqual([]);
  });

  it('rejects records of another domain, and a record that is named twice', async () => {
    await api.makeDomain('other.example', { planSlug: 'pro' });
    const foreign = await makeRecord('x', 'other.example');
    expect(await faults(post('waf', { record_ids: [a, foreign] }))).toEqual(['record_ids[1]']);
    expect(await faults(post('waf', { record_id: foreign }))).toEqual(['record_id']);
    expect(await faults(post('waf', { record_ids: [a, a] }))).toEqual(['record_ids[1]']);
    expect(await faults(put(await make('waf'), { record_ids: [999_999] }))).toEqual(['record_ids[0]']);
  });

  it('rejects fields that the type does not have, and another type than that of the path', async () => {
    for (const [field, value] of Object.entries({ colour: 'red', target: '/x', id: 5, type: 'drop' }))
      expect(await faults(post('waf', { [field]: value }))).toEqual([field]);
    expect((await post('waf', { type: 'waf' })).status).toBe(200);
  });
});

describe('origins', () => {
  it('of private addresses are rejected in every field that names an origin', async () => {
    const host = '10.0.0.1';
    expect(await faults(post('origin_route', { destination: host }))).toEqual(['destination']);
    expect(await faults(post('bot_route', { action: 'route', destination: host }))).toEqual(['destination']);
    const origins = [{ host: '192.0.2.1' }, { host }];
    expect(await faults(post('origin_pool', { origins }))).toEqual(['origins[1].host']);
  });

  it("an address of the fleet's edges is rejected", async () => {
    await sql`insert into edges (name, region, v4, v6, token_hash, token_prefix)
      values ('e1', 'eu', '{198.51.100.9}', '{2001:db8:9::9}', '\\x01', 'edge_x')`.execute(api.db);
    for (const destination of ['198.51.100.9', '2001:db8:9::9', '::ffff:198.51.100.9'])
      expect((await post('origin_route', { destination })).text, destination).toContain('an edge');
  });

  it('a destination of a proxied record is checked if it changes', async () => {
    const path = '/domains/fields.example/records/';
    const plain = { name: 'plain', type: 'A', destination: '10.0.0.1' };
    const { body: record } = await ask('POST', path, plain);
    const change = (body: object) => faults(ask('PUT', `${path}${record.id}`, body));
    expect(record.proxied).toBe(false);
    expect(await change({ proxied: true })).toEqual(['destination']);
    expect(await faults(ask('POST', path, { ...plain, name: 'other', proxied: true }))).toEqual([
      'destination',
    ]);
    await sql`update records set proxied = true where id = ${record.id}`.execute(api.db);
    expect(await change({ comment: 'x' })).toEqual([]);
    expect(await change({ destination: '10.0.0.2' })).toEqual(['destination']);
  });
});

describe('GET', () => {
  it('lists rules in the order of evaluation, page by page', async () => {
    const path = await fresh();
    const made: number[] = [];
    for (const priority of [100, 5, 100, 0]) made.push((await make('drop', { priority }, path)).id);
    await make('waf', {}, path);
    const [first, second, third, fourth] = made;
    expect(idsOf(await ask('GET', `${path}/drop/`))).toEqual([fourth, second, first, third]);
    const page = await ask('GET', `${path}/drop/?limit=3&count=true`);
    expect([idsOf(page), page.headers['x-total-count']]).toEqual([[fourth, second, first], '4']);
    const [, next] = /<([^>]+)>/.exec(String(page.headers.link)) as unknown as [string, string];
    expect(idsOf(await ask('GET', next))).toEqual([third]);
    expect((await ask('GET', `${path}/drop/?limit=3&cursor=x`)).status).toBe(400);
  });

  it('returns the text and the size of an error page for one rule only', async () => {
    const rule = await make('error_page', { html: 'é\n' });
    const read = async () => (await ask('GET', `${SHARED}/error-page/${rule.id}`)).body;
    expect(rule).not.toHaveProperty('html');
    expect(await read()).toEqual({ ...rule, html: 'é\n', size: 3 });
    for (const each of (await ask('GET', `${SHARED}/error-page/`)).body)
      expect(each).not.toHaveProperty('html');
    expect((await put(rule, { status_codes: [500, 503] })).body).not.toHaveProperty('html');
    expect(await read()).toMatchObject({ html: 'é\n', status_codes: [500, 503] });
    await put(rule, { html: 'new' });
    expect(await read()).toMatchObject({ html: 'new', size: 3 });
  });
});

describe('PATCH …/reorder', () => {
  const reorder = (path: string, body: unknown) => ask('PATCH', `${path}/cache/reorder`, body);

  it('reports how many priorities changed', async () => {
    const path = await fresh();
    const ids: number[] = [];
    for (let i = 0; i < 3; i++) ids.push((await make('cache', {}, path)).id);
    const [first, second, third] = ids;
    const places = [
      { id: third, priority: 0 },
      { id: first, priority: 100 },
      { id: second, priority: 7 },
    ];
    const { status, body } = await reorder(path, places);
    expect([status, body]).toEqual([200, { updated: 2 }]);
    expect(idsOf(await ask('GET', `${path}/cache/`))).toEqual([third, second, first]);
    for (const again of [places, []]) expect((await reorder(path, again)).body).toEqual({ updated: 0 });
  });

  it('changes nothing if an id is unknown, of another type or domain, or named twice', async () => {
    const path = await fresh();
    const { id } = await make('cache', {}, path);
    const at = (ids: unknown[], priority: unknown = 1) => ids.map((each) => ({ id: each, priority }));
    for (const other of [999_999, (await make('waf', {}, path)).id, (await make('cache')).id]) {
      const { status, body } = await reorder(path, at([id, other]));
      expect([status, body.error]).toEqual([404, 'rule not found']);
    }
    expect(await faults(reorder(path, at([id, id])))).toEqual(['[1].id']);
    for (const body of [
      at([id], -1),
      at([id], '1'),
      at([id], 1.5),
      [{ id }],
      [{ priority: 1 }],
      { id, priority: 1 },
      at([id], 1_000_001),
      at(Array.from({ length: 1001 }, (_, i) => i + 1)),
    ])
      expect((await reorder(path, body)).status, JSON.stringify(body).slice(0, 80)).toBe(400);
    expect((await ask('GET', `${path}/cache/${id}`)).body.priority).toBe(100);
  });
});

describe('PUT, PATCH …/toggle and DELETE', () => {
  it('PUT keeps the fields that the body does not name', async () => {
    const rule = await make('waf', { paranoia: 3, path_includes: ['/a'], enabled: false });
    const { body } = await put(rule, { threshold: 9 });
    expect(body).toEqual({ ...rule, threshold: 9, updated_at: body.updated_at });
    expect((await put(rule, { threshold: 9 })).headers['x-change-id']).toBeUndefined();
    expect(await faults(put(rule, { threshold: 0 }))).toEqual(['threshold']);
    expect([(await put(rule, {})).status, (await put(rule, [])).status]).toEqual([200, 400]);
    expect((await ask('PATCH', `${SHARED}/waf/${rule.id}`, { threshold: 9 })).status).toBe(405);
  });

  it('PUT validates the new body together with what stays', async () => {
    const hosts = await make('waf', { host_pattern: '*.fields.example', host_match_type: 'wildcard' });
    expect(await faults(put(hosts, { host_pattern: '' }))).toEqual(['host_pattern']);
    expect(await faults(put(hosts, { host_match_type: '' }))).toEqual(['host_match_type']);
    const none = { host_pattern: '', host_match_type: '' };
    expect((await put(hosts, none)).body).toMatchObject(none);
    const paths = await make('waf', { path_includes: ['/a', '/*('] });
    expect(await faults(put(paths, { path_match_type: 'regex' }))).toEqual(['path_includes[1]']);
  });

  it('PUT unsets optional fields by null', async () => {
    const health = { path: '/up', status: 204, interval_seconds: 10 };
    const pool = await make('origin_pool', { health });
    expect(pool.health).toEqual(health);
    expect((await put(pool, { health: null })).body).not.toHaveProperty('health');
    const cache = await make('cache', { browser_ttl_seconds: 60 });
    expect(cache.browser_ttl_seconds).toBe(60);
    expect((await put(cache, { browser_ttl_seconds: null })).body).not.toHaveProperty('browser_ttl_seconds');
  });

  it('DELETE removes the rule', async () => {
    const { id } = await make('captcha');
    const { status, body } = await ask('DELETE', `${SHARED}/captcha/${id}`);
    expect([status, body]).toEqual([200, { message: 'rule deleted' }]);
    for (const method of ['GET', 'DELETE'])
      expect((await ask(method, `${SHARED}/captcha/${id}`)).status).toBe(404);
  });

  it('PATCH …/toggle inverts `enabled`', async () => {
    const rule = await make('rate_limit');
    for (const enabled of [false, true, false]) {
      const { status, body } = await ask('PATCH', `${SHARED}/rate-limit/${rule.id}/toggle`);
      expect([status, body]).toEqual([200, { ...rule, enabled, updated_at: body.updated_at }]);
    }
  });
});

it('every operation responds 404 unknown_rule_type for an unknown type', async () => {
  for (const [method, url, body] of [
    ['GET', 'firewall/'],
    ['POST', 'firewall/', {}],
    ['PATCH', 'rate--limit/reorder', []],
    ['GET', 'WAF/1'],
    ['PUT', 'firewall/1', {}],
    ['DELETE', 'firewall/1'],
    ['PATCH', 'firewall/1/toggle'],
  ] as [string, string, unknown?][]) {
    const answer = await ask(method, `${SHARED}/${url}`, body);
    expect([url, answer.status, answer.body.code]).toEqual([url, 404, 'unknown_rule_type']);
  }
});

// Rules of another domain: test/api/calls/reseller-surface.postgres.test.ts.
it.each(['drop/ID', 'waf/0', 'waf/abc'])('%s, which is not a rule of the type, is 404', async (path) => {
  const { id } = await make('waf');
  for (const method of ['GET', 'DELETE']) {
    const answer = await ask(method, `${SHARED}/${path.replace('ID', String(id))}`);
    expect([method, answer.status, answer.body.error]).toEqual([method, 404, 'rule not found']);
  }
});
