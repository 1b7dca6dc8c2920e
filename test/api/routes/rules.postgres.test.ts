// Operations on rules: errors that depend on the domain, limits (also for concurrent calls), the log of changes, and
// reverts. test/edge/rules.test.ts covers the values of fields.

import { beforeAll, describe, expect, it } from 'vitest';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { loadEdgeRules } from '../../../src/store/rules/edge-rules.ts';
import { type Answer, sharedTestApi } from '../../support/api/api.ts';
import { SMALLEST } from '../../support/rules/smallest-bodies.ts';

const api = sharedTestApi();
let domains = 0;
/** The domain that the tests of fields share, its rules, and its two records. */
const FIELDS = '/domains/fields.example';
const SHARED = `${FIELDS}/rules`;
let [a, b] = [0, 0];

beforeAll(async () => {
  await api.makeDomain('fields.example', { planSlug: 'pro' });
  [a, b] = [await record(FIELDS, { name: 'a' }), await record(FIELDS, { name: 'b' })];
});

/** Creates a domain. `base` is its path, and `rules` is the path of its rules. */
async function fresh(planSlug = 'pro') {
  const name = `s${++domains}.example`;
  const { id } = await api.makeDomain(name, { planSlug });
  return { id, base: `/domains/${name}`, rules: `/domains/${name}/rules` };
}

const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  api.ask(method, path, body === undefined ? {} : { body });
const post = (path: string, type: string, body: object = {}) =>
  ask('POST', `${path}/${type}/`, { ...SMALLEST[type], ...body });
const list = async (path: string, type: string) => (await ask('GET', `${path}/${type}/`)).body;
const changeOf = (base: string, { headers }: Pick<Answer, 'headers'>) =>
  `${base}/changes/${headers['x-change-id']}`;
const revert = (base: string, answer: Answer) => ask('POST', `${changeOf(base, answer)}/revert`);

async function record(base: string, body: object = {}): Promise<number> {
  const www = { name: 'www', type: 'A', destination: '192.0.2.7', proxied: true };
  const { status, body: made } = await ask('POST', `${base}/records/`, { ...www, ...body });
  expect([status, made.error]).toEqual([200, undefined]);
  return made.id;
}

const create = (type: string, body: object = {}) => post(SHARED, type, body);
const put = ({ id, type }: { id: number; type: string }, body: unknown) =>
  ask('PUT', `${SHARED}/${type}/${id}`, body);

async function make(type: string, body: object = {}, path = SHARED): Promise<Answer['body']> {
  const answer = await post(path, type, body);
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
  )('creates a rule of type %s with both spellings, and accepts its response as a body', async (type) => {
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
    const gone = await ask('DELETE', `${SHARED}/${type}/${first.id}`);
    expect([gone.status, gone.body]).toEqual([200, { message: 'rule deleted' }]);
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
      expect(await faults(create('waf', body))).toEqual(['record_id']);
    const rule = await make('waf', { record_id: a });
    expect((await put(rule, { record_id: null })).body.record_ids).toEqual([]);
  });

  it('rejects records of another domain, and a repeated record', async () => {
    await api.makeDomain('other.example', { planSlug: 'pro' });
    const foreign = await record('/domains/other.example');
    expect(await faults(create('waf', { record_ids: [a, foreign] }))).toEqual(['record_ids[1]']);
    expect(await faults(create('waf', { record_id: foreign }))).toEqual(['record_id']);
    expect(await faults(create('waf', { record_ids: [a, a] }))).toEqual(['record_ids[1]']);
    expect(await faults(put(await make('waf'), { record_ids: [999_999] }))).toEqual(['record_ids[0]']);
  });

  it('rejects records that are not proxied, unless the rule already applies to them', async () => {
    const dark = await record(FIELDS, { name: 'dark', proxied: false });
    const error = `record ${dark} (dark.fields.example A) is not proxied: rules apply only to proxied records`;
    const refused = await create('waf', { record_ids: [a, dark] });
    expect([refused.status, refused.body.fields]).toEqual([400, [{ field: 'record_ids[1]', error }]]);
    const rule = await make('waf', { record_ids: [a] });
    expect(await faults(put(rule, { record_ids: [a, dark] }))).toEqual(['record_ids[1]']);
    const late = await record(FIELDS, { name: 'late' });
    const kept = await make('waf', { record_ids: [late] });
    await ask('PUT', `${FIELDS}/records/${late}`, { proxied: false });
    expect((await put(kept, { record_ids: [a, late] })).body.record_ids).toEqual([a, late]);
  });

  it('rejects fields that the type does not have, and a type that differs from the path', async () => {
    for (const [field, value] of Object.entries({ colour: 'red', target: '/x', id: 5, type: 'drop' }))
      expect(await faults(create('waf', { [field]: value }))).toEqual([field]);
    expect((await create('waf', { type: 'waf' })).status).toBe(200);
  });
});

describe('origins', () => {
  it('with private addresses are rejected in every field that contains an origin', async () => {
    const host = '10.0.0.1';
    expect(await faults(create('origin_route', { destination: host }))).toEqual(['destination']);
    expect(await faults(create('bot_route', { action: 'route', destination: host }))).toEqual([
      'destination',
    ]);
    const origins = [{ host: '192.0.2.1' }, { host }];
    expect(await faults(create('origin_pool', { origins }))).toEqual(['origins[1].host']);
  });

  it("with an address of the fleet's edges are rejected", async () => {
    await api.query`insert into edges (name, region, v4, v6, token_hash, token_prefix)
      values ('e1', 'eu', '{198.51.100.9}', '{2001:db8:9::9}', '\\x01', 'edge_x')`;
    for (const destination of ['198.51.100.9', '2001:db8:9::9', '::ffff:198.51.100.9'])
      expect((await create('origin_route', { destination })).text, destination).toContain('an edge');
  });

  it('of proxied records are checked if the destination changes', async () => {
    const path = `${FIELDS}/records/`;
    const plain = { name: 'plain', type: 'A', destination: '10.0.0.1' };
    const { body: record } = await ask('POST', path, plain);
    const change = (body: object) => faults(ask('PUT', `${path}${record.id}`, body));
    expect(record.proxied).toBe(false);
    expect(await change({ proxied: true })).toEqual(['destination']);
    expect(await faults(ask('POST', path, { ...plain, name: 'other', proxied: true }))).toEqual([
      'destination',
    ]);
    await api.query`update records set proxied = true where id = ${record.id}`;
    expect(await change({ comment: 'x' })).toEqual([]);
    expect(await change({ destination: '10.0.0.2' })).toEqual(['destination']);
  });
});

describe('GET', () => {
  it('lists rules in the order of evaluation, page by page', async () => {
    const { rules: path } = await fresh();
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

  it('returns the text and the size of an error page for a single rule only', async () => {
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
    const { rules: path } = await fresh();
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

  it('changes nothing if an id is unknown, repeated, or of another type or domain', async () => {
    const { rules: path } = await fresh();
    const { id } = await make('cache', {}, path);
    const at = (ids: unknown[], priority: unknown = 1) => ids.map((each) => ({ id: each, priority }));
    for (const other of [999_999, (await make('waf', {}, path)).id, (await make('cache')).id]) {
      const { status, body } = await reorder(path, at([id, other]));
      expect([status, body.error]).toEqual([404, 'rule not found']);
    }
    expect(await faults(reorder(path, at([id, id])))).toEqual(['[1].id']);
    const wrong = [
      at([id], -1),
      at([id], '1'),
      at([id], 1.5),
      at([id], 1_000_001),
      [{ id }],
      [{ priority: 1 }],
    ];
    for (const body of [...wrong, { id, priority: 1 }, at(Array.from({ length: 1001 }, (_, i) => i + 1))])
      expect((await reorder(path, body)).status, JSON.stringify(body).slice(0, 80)).toBe(400);
    expect((await ask('GET', `${path}/cache/${id}`)).body.priority).toBe(100);
  });
});

describe('PUT, PATCH …/toggle and DELETE', () => {
  it('PUT keeps the fields that the body omits', async () => {
    const rule = await make('waf', { paranoia: 3, path_includes: ['/a'], enabled: false });
    const { body } = await put(rule, { threshold: 9 });
    expect(body).toEqual({ ...rule, threshold: 9, updated_at: body.updated_at });
    expect((await put(rule, { threshold: 9 })).headers['x-change-id']).toBeUndefined();
    expect(await faults(put(rule, { threshold: 0 }))).toEqual(['threshold']);
    expect([(await put(rule, {})).status, (await put(rule, [])).status]).toEqual([200, 400]);
    expect((await ask('PATCH', `${SHARED}/waf/${rule.id}`, { threshold: 9 })).status).toBe(405);
  });

  it('PUT validates the new body together with the unchanged fields', async () => {
    const hosts = await make('waf', { host_pattern: '*.fields.example', host_match_type: 'wildcard' });
    expect(await faults(put(hosts, { host_pattern: '' }))).toEqual(['host_pattern']);
    expect(await faults(put(hosts, { host_match_type: '' }))).toEqual(['host_match_type']);
    const none = { host_pattern: '', host_match_type: '' };
    expect((await put(hosts, none)).body).toMatchObject(none);
    const paths = await make('waf', { path_includes: ['/a', '/*('] });
    expect(await faults(put(paths, { path_match_type: 'regex' }))).toEqual(['path_includes[1]']);
  });

  it('PUT unsets optional fields with null', async () => {
    const health = { path: '/up', status: 204, interval_seconds: 10 };
    const pool = await make('origin_pool', { health });
    expect(pool.health).toEqual(health);
    expect((await put(pool, { health: null })).body).not.toHaveProperty('health');
    const cache = await make('cache', { browser_ttl_seconds: 60 });
    expect(cache.browser_ttl_seconds).toBe(60);
    expect((await put(cache, { browser_ttl_seconds: null })).body).not.toHaveProperty('browser_ttl_seconds');
  });

  it('PATCH …/toggle inverts `enabled`', async () => {
    const rule = await make('rate_limit');
    for (const enabled of [false, true, false]) {
      const { status, body } = await ask('PATCH', `${SHARED}/rate-limit/${rule.id}/toggle`);
      expect([status, body]).toEqual([200, { ...rule, enabled, updated_at: body.updated_at }]);
    }
  });
});

// test/api/routes.nightly.test.ts covers rules of another domain.
it('an unknown type responds 404 unknown_rule_type, and an unknown id 404', async () => {
  const { id } = await make('waf');
  for (const [method, url, code, body] of [
    ['GET', 'firewall/', 'unknown_rule_type'],
    ['POST', 'firewall/', 'unknown_rule_type', {}],
    ['PATCH', 'rate--limit/reorder', 'unknown_rule_type', []],
    ['GET', 'WAF/1', 'unknown_rule_type'],
    ['PUT', 'firewall/1', 'unknown_rule_type', {}],
    ['DELETE', 'firewall/1', 'unknown_rule_type'],
    ['PATCH', 'firewall/1/toggle', 'unknown_rule_type'],
    ['GET', `drop/${id}`, undefined],
    ['DELETE', `drop/${id}`, undefined],
    ['GET', 'waf/0', undefined],
    ['DELETE', 'waf/abc', undefined],
  ] as [string, string, string | undefined, unknown?][]) {
    const answer = await ask(method, `${SHARED}/${url}`, body);
    expect([url, answer.status, answer.body.code]).toEqual([url, 404, code]);
  }
});

describe('limits', () => {
  it('a plan limits the rules of each type, also for concurrent calls', async () => {
    const { rules, base } = await fresh('free');
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(rules, 'drop')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { status, body } of refused)
      expect([status, body]).toMatchObject([403, { code: 'plan_limit', limit: 5 }]);
    expect(await list(rules, 'drop')).toHaveLength(5);
    expect((await post(rules, 'waf')).status).toBe(200);
    const { domain_usage } = (await ask('GET', `${base}/features`)).body;
    for (const [name, used] of Object.entries({ rules_drop: 5, rules_waf: 1, rules_cache: 0 }))
      expect(domain_usage).toContainEqual({ name, used, limit: 5 });
  });

  it('existing rules beyond a smaller plan can be changed and deleted', async () => {
    const { id, rules } = await fresh();
    const [first] = [(await post(rules, 'waf')).body, (await post(rules, 'waf')).body];
    await setPlan(api.db, { domainId: id, planSlug: 'free', overrides: { max_rules_per_set: 1 } });
    expect((await post(rules, 'waf')).body.code).toBe('plan_limit');
    expect((await ask('PUT', `${rules}/waf/${first.id}`, { paranoia: 2 })).status).toBe(200);
    expect((await ask('DELETE', `${rules}/waf/${first.id}`)).status).toBe(200);
  });

  it('a plan without rules allows only disabling and deleting a rule', async () => {
    const { id, rules } = await fresh();
    const { body: rule } = await post(rules, 'waf');
    await setPlan(api.db, { domainId: id, planSlug: 'free', overrides: { rules_enabled: false } });
    const item = `${rules}/waf/${rule.id}`;
    const shut = { code: 'plan_feature', feature: 'rules_enabled' };
    const reorder = () => ask('PATCH', `${rules}/waf/reorder`, [{ id: rule.id, priority: 1 }]);
    expect((await ask('PATCH', `${item}/toggle`)).body.enabled).toBe(false);
    for (const refused of [
      await post(rules, 'waf'),
      await ask('PUT', item, { paranoia: 2 }),
      await reorder(),
      await ask('PATCH', `${item}/toggle`),
    ])
      expect(refused.body).toMatchObject(shut);
    expect((await post(rules, 'waf', { paranoia: 9 })).status).toBe(400); // invalid values are reported first
    await setPlan(api.db, { domainId: id, planSlug: null });
    const none = await post(rules, 'waf');
    expect([none.status, none.body]).toMatchObject([403, shut]);
    expect((await ask('DELETE', item)).status).toBe(200);
  });

  it('a domain has at most 1,000 rules of a type', async () => {
    const { id, rules } = await fresh();
    const { body } = await post(rules, 'drop');
    await api.query`insert into rules (domain_id, type, enabled, priority, record_ids, fields, octets, created_at, updated_at)
      select domain_id, type, enabled, priority, record_ids, fields, octets, created_at, updated_at
      from rules, generate_series(1, 999) where id = ${body.id} and domain_id = ${id}`;
    expect((await post(rules, 'drop')).body).toMatchObject({ code: 'plan_limit', limit: 1000 });
    const all = (await list(rules, 'drop')).map((rule: { id: number }, i: number) => ({
      id: rule.id,
      priority: i === 100 ? 1 : i,
    }));
    expect((await ask('PATCH', `${rules}/drop/reorder`, all)).body).toEqual({ updated: 1000 });
  });

  it('16 error pages that no rule has any longer are kept', async () => {
    const { id, rules } = await fresh();
    const { body: rule } = await post(rules, 'error_page', { html: 'page 0' });
    for (let i = 1; i < 20; i++) await ask('PUT', `${rules}/error-page/${rule.id}`, { html: `page ${i}` });
    const rows = await api.query<{ html: string }>`
      select html from rule_pages where domain_id = ${id}`;
    const kept = rows.map(({ html }) => html);
    expect([kept.length, kept.includes('page 19'), kept.includes('page 2')]).toEqual([17, true, false]);
  });
});

describe('the log of changes', () => {
  it('contains the rules that a change created, and the changed fields of others', async () => {
    const { base, rules } = await fresh();
    const created = await post(rules, 'error_page', { html: 'secret page' });
    const { id } = created.body;
    const read = async (answer: Answer) => (await ask('GET', changeOf(base, answer))).body;
    const made = await read(created);
    expect(made).toMatchObject({ source: 'api', records: [], rules: [{ op: 'create' }] });
    expect(made.rules[0].after).toMatchObject({ id, type: 'error_page', status_codes: [502], size: 11 });
    expect(JSON.stringify(made)).not.toContain('secret page');
    const edited = await read(await ask('PUT', `${rules}/error-page/${id}`, { priority: 4 }));
    const before = { id, type: 'error_page', priority: 100 };
    expect(edited.rules).toEqual([{ op: 'update', before, after: { ...before, priority: 4 } }]);
    const gone = await read(await ask('DELETE', `${rules}/error-page/${id}`));
    expect(gone.rules[0]).toMatchObject({ op: 'delete', before: { priority: 4 } });
    expect(gone.serial).toBe(made.serial); // the zone has not changed
    const { body: audit } = await ask('GET', `${base}/audit`);
    expect(audit.filter(({ action }: { action: string }) => action === 'rules.edit')).toHaveLength(3);
  });

  it.each([
    'waf',
    'origin_pool',
    'error_page',
  ])('every change of a rule of type %s can be reverted', async (type) => {
    const { base, rules } = await fresh();
    const made = await post(rules, type, { path_excludes: ['/x'] });
    const { id } = made.body;
    const item = `${rules}/${type}/${id}`;
    const read = async () => {
      const { status, body } = await ask('GET', item);
      const { updated_at: _, ...rest } = body;
      return status === 200 ? rest : undefined;
    };
    const first = await read();
    const edit = { priority: 5, path_includes: ['/a'], ...(type === 'error_page' && { html: 'other' }) };
    for (const [method, url, body] of [
      ['PUT', item, edit],
      ['PATCH', `${item}/toggle`],
      ['PATCH', `${rules}/${type}/reorder`, [{ id, priority: 9 }]],
      ['DELETE', item],
    ] as [string, string, unknown?][]) {
      const done = await ask(method, url, body);
      expect(await read()).not.toEqual(first);
      const back = await revert(base, done);
      expect([back.status, back.body.reverts]).toEqual([200, Number(done.headers['x-change-id'])]);
      expect(await read()).toEqual(first);
    }
    const as = await api.makeKey({ types: ['TXT'] });
    expect((await api.ask('POST', `${changeOf(base, made)}/revert`, { as })).status).toBe(403);
    expect((await revert(base, made)).status).toBe(200);
    expect(await read()).toBeUndefined();
  });

  it('a change cannot be reverted while a later change of the same rule applies', async () => {
    const { base, rules } = await fresh();
    const { body: rule } = await post(rules, 'waf');
    const item = `${rules}/waf/${rule.id}`;
    const first = await ask('PUT', item, { paranoia: 2 });
    const second = await ask('PUT', item, { priority: 7 });
    const refused = await revert(base, first);
    const error = `a later change touched rule ${rule.id} of this change`;
    expect([refused.status, refused.body]).toEqual([409, { error }]);
    for (const each of [second, first]) expect((await revert(base, each)).status).toBe(200);
    expect((await ask('GET', item)).body).toMatchObject({ paranoia: 1, priority: 100 });
    expect((await revert(base, first)).status).toBe(409);
  });

  it('a deleted rule can be restored only if its plan, its records and its page still exist', async () => {
    const { id, base, rules } = await fresh();
    const www = await record(base);
    const { body: rule } = await post(rules, 'waf', { record_ids: [www] });
    const gone = await ask('DELETE', `${rules}/waf/${rule.id}`);
    await setPlan(api.db, { domainId: id, planSlug: 'free', overrides: { max_rules_per_set: 0 } });
    expect((await revert(base, gone)).body.code).toBe('plan_limit');
    await setPlan(api.db, { domainId: id, planSlug: 'pro' });
    await ask('DELETE', `${base}/records/${www}`);
    const lacks = (what: string) => ({ code: 'wrong_state', error: expect.stringContaining(what) });
    expect((await revert(base, gone)).body).toMatchObject(lacks(`record ${www}`));
    const { body: page } = await post(rules, 'error_page');
    const gonePage = await ask('DELETE', `${rules}/error-page/${page.id}`);
    await api.query`delete from rule_pages where domain_id = ${id}`;
    expect((await revert(base, gonePage)).body).toMatchObject(lacks('page'));
  });
});

describe('deleting a record', () => {
  it('removes it from its rules, and disables a rule without another record, until the change is reverted', async () => {
    const { base, rules } = await fresh();
    const [a, b] = [await record(base), await record(base, { name: 'b' })];
    const { body: both } = await post(rules, 'waf', { record_ids: [a, b] });
    const { body: one } = await post(rules, 'drop', { record_ids: [a] });
    const { body: whole } = await post(rules, 'cache');
    const read = async (rule: { type: string; id: number }) =>
      (await ask('GET', `${rules}/${rule.type}/${rule.id}`)).body;
    const gone = await ask('DELETE', `${base}/records/${a}`);
    expect(await read(both)).toMatchObject({ record_ids: [b], enabled: true });
    const disabled_reason = expect.stringContaining('last record');
    expect(await read(one)).toMatchObject({ record_ids: [], enabled: false, disabled_reason });
    expect(await read(whole)).toEqual(whole);
    expect((await ask('GET', changeOf(base, gone))).body).toMatchObject({
      records: [{ op: 'delete' }],
      rules: [
        { op: 'update', before: { id: both.id, record_ids: [a, b] }, after: { record_ids: [b] } },
        { op: 'update', before: { id: one.id, enabled: true }, after: { enabled: false } },
      ],
    });
    expect((await revert(base, gone)).status).toBe(200);
    expect((await read(both)).record_ids).toEqual([a, b]);
    expect(await read(one)).toMatchObject({ record_ids: [a], enabled: true });
    expect(await read(one)).not.toHaveProperty('disabled_reason');
  });

  it('stores a reason, which is removed if the rule is enabled or receives other records', async () => {
    const { base, rules } = await fresh();
    const b = await record(base, { name: 'b' });
    for (const [method, end, sent] of [
      ['PATCH', '/toggle', undefined],
      ['PUT', '', { enabled: true }],
      ['PUT', '', { record_ids: [b] }],
    ] as const) {
      const a = await record(base);
      const { id } = (await post(rules, 'drop', { record_ids: [a] })).body;
      await ask('DELETE', `${base}/records/${a}`);
      const { body: kept } = await ask('PUT', `${rules}/drop/${id}`, { priority: 3 });
      expect(kept).toHaveProperty('disabled_reason');
      expect((await ask(method, `${rules}/drop/${id}${end}`, sent)).body).not.toHaveProperty(
        'disabled_reason',
      );
    }
  });
});

it('edges receive the enabled rules in the order of evaluation, and a new version for every write', async () => {
  const { id, base, rules } = await fresh();
  const www = await record(base);
  const dark = await record(base, { name: 'dark' });
  const versions = new Set();
  const written = async (answer: Answer) => {
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    const rows = await api.query<{ version: number }>`
      select version from edge_changes where name = ${`${base.slice('/domains/'.length)}.`}`;
    expect(versions.has(rows[0]?.version)).toBe(false);
    versions.add(rows[0]?.version);
    return answer.body.id as number;
  };
  const page = await written(await post(rules, 'error_page', { html: 'Soon.' }));
  const late = await written(await post(rules, 'waf', { record_ids: [www], action_mode: 'dry_run' }));
  const host = { host_pattern: '*.a', host_match_type: 'wildcard' };
  const first = await written(await post(rules, 'waf', { priority: 1, ...host }));
  const off = await written(await post(rules, 'drop', { enabled: false }));
  await written(await post(rules, 'drop', { record_ids: [dark] }));
  await written(await ask('PUT', `${base}/records/${dark}`, { proxied: false }));
  const received = async () => (await loadEdgeRules(api.db, [id])).get(id) ?? [];
  const ids = async () => (await received()).map((rule) => rule.id);
  expect(await received()).toMatchObject([
    { id: first, host: { type: 'wildcard', pattern: '*.a' } },
    { id: late, hosts: [`www.${base.slice(9)}`], action_mode: 'dry_run' },
    { id: page, type: 'error_page', html: 'Soon.' },
  ]);
  await written(await ask('PATCH', `${rules}/drop/${off}/toggle`));
  await written(await ask('PATCH', `${rules}/waf/reorder`, [{ id: first, priority: 500 }]));
  expect(await ids()).toEqual([off, late, first, page]);
  await written(await ask('DELETE', `${rules}/waf/${first}`));
});

it('concurrent reorders and creations keep every rule once, in one of the orders', async () => {
  const { rules } = await fresh();
  const made: number[] = [];
  for (let i = 0; i < 4; i++) made.push((await post(rules, 'waf')).body.id);
  const upwards = made.map((id, priority) => ({ id, priority }));
  const downwards = made.map((id, i) => ({ id, priority: 10 - i }));
  await Promise.all(
    Array.from({ length: 4 }, () => [
      ask('PATCH', `${rules}/waf/reorder`, upwards),
      ask('PATCH', `${rules}/waf/reorder`, downwards),
      post(rules, 'waf', { priority: 50 }),
    ]).flat(),
  );
  const ids = (await list(rules, 'waf')).map(({ id }: { id: number }) => id);
  expect(ids).toHaveLength(8);
  expect([made.join(), made.toReversed().join()]).toContain(ids.slice(0, 4).join());
});
