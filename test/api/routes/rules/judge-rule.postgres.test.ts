// The fields of rules, sentence by sentence.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startTestApi, type TestApi } from '../../../support/api/api.ts';
import { SMALLEST } from '../../../support/rules/smallest-bodies.ts';

let api: TestApi;
let records: number[];
const BASE = '/domains/fields.example/rules';

beforeAll(async () => {
  api = await startTestApi();
  await api.makeDomain('fields.example', { planSlug: 'pro' });
  records = [];
  for (const name of ['a', 'b']) {
    const body = { name, type: 'A', destination: '192.0.2.7', proxied: true };
    records.push((await api.ask('POST', '/domains/fields.example/records/', { body })).body.id);
  }
});
afterAll(() => api.stop());

const post = (type: string, body: object = {}): Promise<Answer> =>
  api.ask('POST', `${BASE}/${type}/`, { body: { ...SMALLEST[type], ...body } });
const put = ({ id, type }: { id: number; type: string }, body: object) =>
  api.ask('PUT', `${BASE}/${type}/${id}`, { body });

async function make(type: string, body: object = {}): Promise<Answer['body']> {
  const answer = await post(type, body);
  expect(answer.text).not.toContain('"error"');
  return answer.body;
}

async function faults(answer: Promise<Answer>): Promise<string[]> {
  const { status, body } = await answer;
  if (status === 200) return [];
  expect([status, body.code]).toEqual([400, 'validation_failed']);
  return body.fields.map(({ field }: { field: string }) => field);
}

describe('fields of every type', () => {
  it.each(Object.keys(SMALLEST))('%s has the defaults of the common fields', async (type) => {
    const rule = await make(type);
    expect(rule).toMatchObject({
      type,
      enabled: true,
      priority: 100,
      record_ids: [],
      host_pattern: '',
      host_match_type: '',
      action_mode: 'enforce',
      path_match_type: 'wildcard',
      path_includes: ['/*'],
      path_excludes: [],
    });
    expect(rule).not.toHaveProperty('record_id');
    expect(rule.created_at).toBe(rule.updated_at);
  });

  it('ids of all types are of one space', async () => {
    const made = [await make('waf'), await make('drop'), await make('cache')];
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
    expect((await api.ask('GET', `${BASE}/drop/${made[0].id}`)).status).toBe(404);
    expect((await api.ask('GET', `${BASE}/waf/${made[0].id}`)).status).toBe(200);
  });

  it('a rule without record_ids is for the whole zone, and has no record_id', async () => {
    for (const body of [{}, { record_ids: [] }, { record_id: null }]) {
      const rule = await make('waf', body);
      expect(rule.record_ids).toEqual([]);
      expect(rule).not.toHaveProperty('record_id');
    }
  });

  it('record_id is record_ids of one', async () => {
    const [a, b] = records as [number, number];
    expect(await make('waf', { record_id: a })).toMatchObject({ record_id: a, record_ids: [a] });
    expect(await make('waf', { record_id: a, record_ids: [a] })).toMatchObject({ record_id: a });
    expect(await make('waf', { record_id: null, record_ids: [a] })).toMatchObject({ record_id: a });
    const both = await make('waf', { record_ids: [b, a] });
    expect(both.record_ids).toEqual([b, a]);
    expect(both).not.toHaveProperty('record_id');
    expect(await faults(post('waf', { record_id: a, record_ids: [b] }))).toEqual(['record_id']);
    expect(await faults(post('waf', { record_id: a, record_ids: [a, b] }))).toEqual(['record_id']);
    expect(await faults(post('waf', { record_id: 'x' }))).toEqual(['record_id']);
    const rule = await make('waf', { record_id: a });
    expect((await put(rule, { record_id: null })).body.record_ids).toEqual([]);
  });

  it('every id of record_ids is of a record of the domain', async () => {
    await api.makeDomain('other.example', { planSlug: 'pro' });
    const foreign = await api.ask('POST', '/domains/other.example/records/', {
      body: { name: 'x', type: 'A', destination: '192.0.2.7' },
    });
    expect(await faults(post('waf', { record_ids: [records[0], foreign.body.id] }))).toEqual([
      'record_ids[1]',
    ]);
    expect(await faults(post('waf', { record_id: foreign.body.id }))).toEqual(['record_id']);
    expect(await faults(post('waf', { record_ids: [records[0], records[0]] }))).toEqual(['record_ids[1]']);
    const rule = await make('waf');
    expect(await faults(put(rule, { record_ids: [999_999] }))).toEqual(['record_ids[0]']);
  });

  it('host_pattern and host_match_type are set and cleared together', async () => {
    expect(await faults(post('waf', { host_pattern: 'a.fields.example' }))).toEqual(['host_match_type']);
    expect(await faults(post('waf', { host_match_type: 'exact' }))).toEqual(['host_pattern']);
    const rule = await make('waf', { host_pattern: '*.fields.example', host_match_type: 'wildcard' });
    expect(await faults(put(rule, { host_pattern: '' }))).toEqual(['host_pattern']);
    expect(await faults(put(rule, { host_match_type: '' }))).toEqual(['host_match_type']);
    expect((await put(rule, { host_pattern: '', host_match_type: '' })).body).toMatchObject({
      host_pattern: '',
      host_match_type: '',
    });
    expect(await faults(post('waf', { host_pattern: 'a', host_match_type: 'prefix' }))).toEqual([
      'host_match_type',
    ]);
  });

  it.each(Object.keys(SMALLEST))('%s takes dry_run, whether it heeds it or not', async (type) => {
    expect(await make(type, { action_mode: 'dry_run' })).toMatchObject({ action_mode: 'dry_run' });
    expect(await faults(post(type, { action_mode: 'log' }))).toEqual(['action_mode']);
  });

  it('path_match_type governs includes and excludes', async () => {
    const regex = { path_match_type: 'regex', path_includes: ['\\.php$'], path_excludes: ['^/api/'] };
    expect(await make('waf', regex)).toMatchObject(regex);
    expect(await faults(post('waf', { ...regex, path_match_type: 'wildcard' }))).toEqual([
      'path_includes[0]',
      'path_excludes[0]',
    ]);
    expect(await faults(post('waf', { path_match_type: 'regex', path_includes: ['/a', '('] }))).toEqual([
      'path_includes[1]',
    ]);
    const rule = await make('waf', { path_includes: ['/a', '/*('] });
    expect(await faults(put(rule, { path_match_type: 'regex' }))).toEqual(['path_includes[1]']);
  });

  it('a regular expression that is wrong is told with its place', async () => {
    const { body } = await post('waf', { path_match_type: 'regex', path_includes: ['/ok', '/a[b'] });
    expect(body.fields).toEqual([
      { field: 'path_includes[1]', error: 'not RE2 syntax: missing closing ] at character 3: [b' },
    ]);
  });

  it('unknown fields, and those of other types, are refused by name', async () => {
    expect(await faults(post('waf', { colour: 'red' }))).toEqual(['colour']);
    expect(await faults(post('waf', { target: '/x' }))).toEqual(['target']);
    expect(await faults(post('waf', { id: 5 }))).toEqual(['id']);
    expect(await faults(post('waf', { type: 'drop' }))).toEqual(['type']);
    expect((await post('waf', { type: 'waf' })).status).toBe(200);
  });
});

describe('fields of one type', () => {
  it.each<[string, object]>([
    ['waf', { paranoia: 1, threshold: 5, body_cap_kb: 128, rule_excludes: [] }],
    ['redirect', { status_code: 302, preserve_query: true, preserve_path: false }],
    ['rewrite', { query_mode: 'preserve' }],
    ['drop', { country_match_type: 'include', countries: [] }],
    ['cache', { ttl_seconds: 3600, key_query: 'all', bypass: false, respect_origin: true }],
    ['captcha', { mode: 'js', valid_seconds: 3600 }],
    ['rate_limit', { requests: 100, period_seconds: 60, key: 'ip', action: 'block', block_seconds: 60 }],
    ['bot_route', { bots: 'unverified', list: [], action: 'block' }],
    ['origin_route', { port: 443, scheme: 'https', host_header: '' }],
    [
      'origin_pool',
      {
        method: 'round_robin',
        origins: [{ host: '192.0.2.1', port: 443, weight: 1, backup: false, scheme: 'https' }],
      },
    ],
    ['fingerprint', { action: 'block' }],
    ['error_page', { content_type: 'text/html' }],
  ])('%s has defaults', async (type, defaults) => {
    expect(await make(type)).toMatchObject(defaults);
  });

  it.each<[string, string, unknown[], unknown[]]>([
    ['waf', 'paranoia', [1, 4], [0, 5, 1.5, '1']],
    ['waf', 'threshold', [1, 100], [0, 101]],
    ['waf', 'body_cap_kb', [0, 1024], [-1, 1025]],
    ['redirect', 'status_code', [301, 302, 307, 308], [300, 303, 200, '302']],
    [
      'redirect',
      'target',
      ['https://example.com/', '/path'],
      ['', 'javascript:alert(1)', '//evil.example', 'a\r\nb'],
    ],
    ['rewrite', 'query_mode', ['preserve', 'replace', 'strip'], ['drop', '']],
    ['drop', 'country_match_type', ['include', 'exclude'], ['both']],
    ['rate_limit', 'requests', [1, 1_000_000], [0, 1_000_001]],
    ['captcha', 'mode', ['js', 'image'], ['audio']],
  ])('%s: %s is bounded', async (type, field, right, wrong) => {
    for (const value of right) expect((await make(type, { [field]: value }))[field]).toEqual(value);
    for (const value of wrong)
      expect(await faults(post(type, { [field]: value })), String(value)).toEqual([field]);
  });

  it('the core rule set is left out by ids, which are text', async () => {
    expect((await make('waf', { rule_excludes: ['942100', '920350'] })).rule_excludes).toHaveLength(2);
    expect(await faults(post('waf', { rule_excludes: [942100] }))).toEqual(['rule_excludes[0]']);
  });

  it('countries are codes of ISO 3166-1', async () => {
    expect((await make('drop', { countries: ['NL', 'DE'] })).countries).toEqual(['NL', 'DE']);
    expect(await faults(post('drop', { countries: ['NL', 'nl', 'EU'] }))).toEqual([
      'countries[1]',
      'countries[2]',
    ]);
  });

  it('target and path_target are required', async () => {
    for (const [type, field] of [
      ['redirect', 'target'],
      ['rewrite', 'path_target'],
    ] as const) {
      const { body } = await api.ask('POST', `${BASE}/${type}/`, { body: {} });
      expect(body.fields).toEqual([{ field, error: 'is required' }]);
    }
  });

  it('a rewrite refers to groups of path_includes', async () => {
    const regex = { path_match_type: 'regex', path_includes: ['^/old/(.*)$'] };
    expect(await make('rewrite', { ...regex, path_target: '/new/$1' })).toMatchObject({
      path_target: '/new/$1',
    });
    expect(await faults(post('rewrite', { ...regex, path_target: '/new/$2' }))).toEqual(['path_target']);
  });

  it('query_target is what replaces the query', async () => {
    const body = { query_mode: 'replace', query_target: 'a=b&c=d' };
    expect(await make('rewrite', body)).toMatchObject(body);
    expect(await faults(post('rewrite', { query_target: '?a=b' }))).toEqual(['query_target']);
  });

  it('what can be unset is unset by null', async () => {
    const health = { path: '/up', status: 204, interval_seconds: 10 };
    const pool = await make('origin_pool', { health });
    expect(pool.health).toEqual(health);
    expect((await put(pool, { health: null })).body).not.toHaveProperty('health');
    const cache = await make('cache', { browser_ttl_seconds: 60 });
    expect(cache.browser_ttl_seconds).toBe(60);
    expect((await put(cache, { browser_ttl_seconds: null })).body).not.toHaveProperty('browser_ttl_seconds');
  });
});

describe('origins', () => {
  const wrong = [
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '100.64.0.1',
    '224.0.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '::1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    'a.localhost',
  ];
  it.each(wrong)('%s is no origin', async (host) => {
    expect(await faults(post('origin_route', { destination: host }))).toEqual(['destination']);
    expect(await faults(post('bot_route', { action: 'route', destination: host }))).toEqual(['destination']);
    const origins = [{ host: '192.0.2.1' }, { host }];
    expect(await faults(post('origin_pool', { origins }))).toEqual(['origins[1].host']);
    if (host.endsWith('localhost')) return;
    const type = host.includes(':') ? 'AAAA' : 'A';
    const record = { name: 'origin', type, destination: host, proxied: true };
    const asked = api.ask('POST', '/domains/fields.example/records/', { body: record });
    expect(await faults(asked)).toEqual(['destination']);
  });

  it('our own edges are none', async () => {
    await sql`insert into edges (name, region, v4, v6, token_hash, token_prefix)
      values ('e1', 'eu', '{198.51.100.9}', '{2001:db8:9::9}', '\\x01', 'edge_x')`.execute(api.database.db);
    for (const destination of ['198.51.100.9', '2001:db8:9::9', '::ffff:198.51.100.9'])
      expect((await post('origin_route', { destination })).text, destination).toContain('an edge');
  });

  it('an origin that stays is not judged again, another one is', async () => {
    const path = '/domains/fields.example/records/';
    const body = { name: 'plain', type: 'A', destination: '10.0.0.1' };
    const { body: record } = await api.ask('POST', path, { body });
    expect(record.proxied).toBe(false);
    expect(await faults(api.ask('PUT', `${path}${record.id}`, { body: { proxied: true } }))).toEqual([
      'destination',
    ]);
    await sql`update records set proxied = true where id = ${record.id}`.execute(api.database.db);
    expect((await api.ask('PUT', `${path}${record.id}`, { body: { comment: 'x' } })).status).toBe(200);
    const other = { destination: '10.0.0.2' };
    expect(await faults(api.ask('PUT', `${path}${record.id}`, { body: other }))).toEqual(['destination']);
  });
});

describe('an error page', () => {
  it('is answered with its text and size where it is read alone, and nowhere else', async () => {
    const rule = await make('error_page', { html: 'é\n' });
    expect(rule).not.toHaveProperty('html');
    expect((await api.ask('GET', `${BASE}/error-page/${rule.id}`)).body).toEqual({
      ...rule,
      html: 'é\n',
      size: 3,
    });
    const { body: listed } = await api.ask('GET', `${BASE}/error-page/`);
    for (const each of listed) expect(Object.keys(each)).not.toContain('html');
    const { body: edited } = await put(rule, { status_codes: [500, 503] });
    expect(edited).not.toHaveProperty('html');
    expect((await api.ask('GET', `${BASE}/error-page/${rule.id}`)).body).toMatchObject({ html: 'é\n' });
    await put(rule, { html: 'new' });
    expect((await api.ask('GET', `${BASE}/error-page/${rule.id}`)).body).toMatchObject({
      html: 'new',
      size: 3,
    });
  });

  it('has at most 256 KiB', async () => {
    expect(await faults(post('error_page', { html: 'a'.repeat(262_145) }))).toEqual(['html']);
    expect((await make('error_page', { html: 'a'.repeat(262_144) })).id).toBeGreaterThan(0);
  });
});
