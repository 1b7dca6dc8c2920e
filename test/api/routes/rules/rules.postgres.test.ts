// The seven operations on rules, sentence by sentence.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeStatus } from '../../../../src/store/change/change-status.ts';
import { type Answer, startTestApi, type TestApi } from '../../../support/api/api.ts';
import { SMALLEST } from '../../../support/rules/smallest-bodies.ts';

let api: TestApi;
let domains = 0;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

/** The path of the rules of a domain of its own. */
async function fresh(options: Parameters<TestApi['makeDomain']>[1] = { planSlug: 'pro' }): Promise<string> {
  const name = `r${++domains}.example`;
  await api.makeDomain(name, options);
  return `/domains/${name}/rules`;
}

const ask = async (method: string, path: string, body?: unknown, as?: string): Promise<Answer> =>
  api.ask(method, path, { ...(body !== undefined && { body }), ...(as !== undefined && { as }) });

async function make(path: string, type: string, body: object = {}): Promise<Answer['body']> {
  const answer = await ask('POST', `${path}/${type}/`, { ...SMALLEST[type], ...body });
  expect(answer.text).not.toContain('"error"');
  return answer.body;
}

const idsOf = ({ body }: Answer): number[] => body.map(({ id }: { id: number }) => id);

describe('create', () => {
  it.each(Object.keys(SMALLEST))('%s answers 200 with the rule, by both spellings', async (type) => {
    const path = await fresh();
    const first = await ask('POST', `${path}/${type}/`, SMALLEST[type]);
    expect([first.status, first.body.type]).toEqual([200, type]);
    const second = await ask('POST', `${path}/${type.replace('_', '-')}/`, SMALLEST[type]);
    expect([second.status, second.body.type]).toEqual([200, type]);
    for (const spelling of [type, type.replace('_', '-')])
      expect(idsOf(await ask('GET', `${path}/${spelling}/`))).toEqual([first.body.id, second.body.id]);
    const { html: _, ...told } = SMALLEST[type] as { html?: string };
    const { origins: __, ...plain } = told as { origins?: unknown };
    expect(first.body).toMatchObject(plain);
  });

  it('tells its change, and a repeat under an Idempotency-Key makes no second rule', async () => {
    const path = await fresh();
    const headers = { 'idempotency-key': 'once' };
    const body = { path_includes: Array.from({ length: 64 }, (_, i) => `/${'x'.repeat(1020)}${i}`) };
    const create = () => api.ask('POST', `${path}/waf/`, { body, headers });
    const [first, again] = [await create(), await create()];
    expect(first.headers['x-change-id']).toBeDefined();
    expect(first.headers['x-zone-serial']).toBeDefined();
    expect(again.headers['idempotent-replay']).toBe('true');
    expect(again.text).toBe(first.text);
    expect(idsOf(await ask('GET', `${path}/waf/`))).toHaveLength(1);
  });
});

describe('list', () => {
  it('is in the order of evaluation: priority, then id', async () => {
    const path = await fresh();
    const made: number[] = [];
    for (const priority of [100, 5, 100, 0]) made.push((await make(path, 'drop', { priority })).id);
    await make(path, 'waf');
    const [a, b, c, d] = made;
    const listed = await ask('GET', `${path}/drop/`);
    expect(idsOf(listed)).toEqual([d, b, a, c]);
    expect((await ask('GET', `${path}/drop/`, undefined, 'viewer')).status).toBe(200);
    const first = await ask('GET', `${path}/drop/?limit=3&count=true`);
    expect([idsOf(first), first.headers['x-total-count']]).toEqual([[d, b, a], '4']);
    const [, next] = /<([^>]+)>/.exec(String(first.headers.link)) as unknown as [string, string];
    expect(idsOf(await ask('GET', next))).toEqual([c]);
    expect((await ask('GET', `${path}/drop/?limit=3&cursor=x`)).status).toBe(400);
  });
});

describe('reorder', () => {
  it('tells how many priorities changed, in one change', async () => {
    const path = await fresh();
    const rules = [await make(path, 'cache'), await make(path, 'cache'), await make(path, 'cache')];
    const [a, b, c] = rules.map(({ id }) => id);
    const places = [
      { id: c, priority: 0 },
      { id: a, priority: 100 },
      { id: b, priority: 7 },
    ];
    const answer = await ask('PATCH', `${path}/cache/reorder`, places);
    expect([answer.status, answer.body]).toEqual([200, { updated: 2 }]);
    expect(idsOf(await ask('GET', `${path}/cache/`))).toEqual([c, b, a]);
    expect((await ask('PATCH', `${path}/cache/reorder`, places)).body).toEqual({ updated: 0 });
    expect((await ask('PATCH', `${path}/cache/reorder`, [])).body).toEqual({ updated: 0 });
  });

  it('does nothing when one of its ids is unknown, of another type, or named twice', async () => {
    const path = await fresh();
    const { id } = await make(path, 'cache');
    const other = await make(path, 'waf');
    const foreign = await make(await fresh(), 'cache');
    const at = (ids: unknown[], priority: unknown = 1) => ids.map((each) => ({ id: each, priority }));
    for (const ids of [
      [id, 999_999],
      [id, other.id],
      [id, foreign.id],
    ]) {
      const answer = await ask('PATCH', `${path}/cache/reorder`, at(ids));
      expect([answer.status, answer.body.error]).toEqual([404, 'rule not found']);
    }
    const twice = await ask('PATCH', `${path}/cache/reorder`, at([id, id]));
    expect([twice.status, twice.body.fields[0].field]).toEqual([400, '[1].id']);
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
      expect((await ask('PATCH', `${path}/cache/reorder`, body)).status, JSON.stringify(body)).toBe(400);
    expect((await ask('GET', `${path}/cache/${id}`)).body.priority).toBe(100);
  });
});

describe('get, update, delete, toggle', () => {
  it('get answers the rule as the list does', async () => {
    const path = await fresh();
    const rule = await make(path, 'redirect', { target: 'https://example.net/', status_code: 308 });
    expect((await ask('GET', `${path}/redirect/${rule.id}`, undefined, 'viewer')).body).toEqual(rule);
    expect((await ask('GET', `${path}/redirect/`)).body).toEqual([rule]);
  });

  it('update is PUT, and leaves what it does not name', async () => {
    const path = await fresh();
    const rule = await make(path, 'waf', { paranoia: 3, path_includes: ['/a'], enabled: false });
    const { body } = await ask('PUT', `${path}/waf/${rule.id}`, { threshold: 9 });
    expect(body).toEqual({ ...rule, threshold: 9, updated_at: body.updated_at });
    expect((await ask('PATCH', `${path}/waf/${rule.id}`, { threshold: 9 })).status).toBe(405);
    const again = await ask('PUT', `${path}/waf/${rule.id}`, { threshold: 9 });
    expect(again.headers['x-change-id']).toBeUndefined();
    expect((await ask('PUT', `${path}/waf/${rule.id}`, { threshold: 0 })).body.fields[0].field).toBe(
      'threshold',
    );
    expect((await ask('PUT', `${path}/waf/${rule.id}`, {})).status).toBe(200);
    expect((await ask('PUT', `${path}/waf/${rule.id}`, [])).status).toBe(400);
  });

  it.each(Object.keys(SMALLEST))('%s can be read, edited and sent back', async (type) => {
    const path = await fresh();
    const { id } = await make(path, type);
    const { body: read } = await ask('GET', `${path}/${type}/${id}`);
    const answer = await ask('PUT', `${path}/${type}/${id}`, { ...read, priority: 3 });
    expect(answer.text).not.toContain('"error"');
    expect((await ask('GET', `${path}/${type}/${id}`)).body).toEqual({
      ...read,
      priority: 3,
      updated_at: answer.body.updated_at,
    });
  });

  it('delete answers a message, and the rule is gone', async () => {
    const path = await fresh();
    const { id } = await make(path, 'captcha');
    const gone = await ask('DELETE', `${path}/captcha/${id}`);
    expect([gone.status, gone.body]).toEqual([200, { message: 'rule deleted' }]);
    expect((await ask('GET', `${path}/captcha/${id}`)).status).toBe(404);
    expect((await ask('DELETE', `${path}/captcha/${id}`)).status).toBe(404);
  });

  it('each toggle makes enabled the opposite of what it was', async () => {
    const path = await fresh();
    const rule = await make(path, 'rate_limit');
    for (const enabled of [false, true, false]) {
      const { status, body } = await ask('PATCH', `${path}/rate-limit/${rule.id}/toggle`);
      expect([status, body]).toEqual([200, { ...rule, enabled, updated_at: body.updated_at }]);
    }
  });
});

describe('errors', () => {
  it('an unknown type is 404 unknown_rule_type for every operation', async () => {
    const path = await fresh();
    const calls: [string, string, unknown?][] = [
      ['GET', `${path}/firewall/`],
      ['POST', `${path}/firewall/`, {}],
      ['PATCH', `${path}/rate--limit/reorder`, []],
      ['GET', `${path}/WAF/1`],
      ['PUT', `${path}/firewall/1`, {}],
      ['DELETE', `${path}/firewall/1`],
      ['PATCH', `${path}/firewall/1/toggle`],
    ];
    for (const [method, url, body] of calls) {
      const answer = await ask(method, url, body);
      expect([answer.status, answer.body.code], url).toEqual([404, 'unknown_rule_type']);
    }
  });

  it('the final slash counts: the right path is named', async () => {
    const path = await fresh();
    const { id } = await make(path, 'waf');
    for (const [method, url] of [
      ['GET', `${path}/waf`],
      ['POST', `${path}/waf`],
      ['GET', `${path}/waf/${id}/`],
    ] as const) {
      const { status, body } = await ask(method, url, method === 'POST' ? {} : undefined);
      expect([status, body.error]).toEqual([404, expect.stringContaining('did you mean')]);
    }
  });

  it('400: the body is malformed or a value invalid', async () => {
    const path = await fresh();
    for (const body of [
      'x',
      '[',
      [],
      5,
      null,
      { priority: -1 },
      { priority: 'high' },
      { enabled: 1 },
      { priority: 2 ** 31 },
    ])
      expect((await ask('POST', `${path}/waf/`, body)).status, JSON.stringify(body)).toBe(400);
  });

  it('401 without a key, 403 for a viewer and a read-only key, 404 for strangers', async () => {
    const path = await fresh();
    const { id } = await make(path, 'waf');
    const readOnly = await api.makeKey({ readOnly: true });
    const writes: [string, string, unknown?][] = [
      ['POST', `${path}/waf/`, {}],
      ['PATCH', `${path}/waf/reorder`, []],
      ['PUT', `${path}/waf/${id}`, {}],
      ['DELETE', `${path}/waf/${id}`],
      ['PATCH', `${path}/waf/${id}/toggle`],
    ];
    for (const [method, url, body] of writes) {
      expect((await api.ask(method, url, { as: null, body })).status).toBe(401);
      expect((await ask(method, url, body, 'viewer')).body).toEqual({ error: 'your role lacks rules.edit' });
      expect((await ask(method, url, body, readOnly)).body).toEqual({ error: 'read-only API key' });
      expect((await ask(method, url, body, 'stranger')).body).toEqual({ error: 'domain not found' });
      // the permission before the body
      expect((await ask(method, url, body === undefined ? undefined : { wrong: 1 }, 'viewer')).status).toBe(
        403,
      );
    }
    for (const url of [`${path}/waf/`, `${path}/waf/${id}`]) {
      expect((await ask('GET', url, undefined, readOnly)).status).toBe(200);
      expect((await ask('GET', url, undefined, 'stranger')).status).toBe(404);
    }
    expect((await ask('POST', `${path}/waf/`, {}, 'editor')).status).toBe(200);
  });

  it('403: a key narrowed to names or types of records writes no rules, which are for the whole domain', async () => {
    const path = await fresh();
    for (const narrowed of [{ names: ['www.r.example'] }, { types: ['TXT'] }]) {
      const key = await api.makeKey(narrowed);
      expect((await ask('POST', `${path}/waf/`, {}, key)).status).toBe(403);
      expect((await ask('GET', `${path}/waf/`, undefined, key)).status).toBe(200);
    }
  });

  it('404: an id that is not of the domain and type', async () => {
    const path = await fresh();
    const { id } = await make(path, 'waf');
    const foreign = await make(await fresh(), 'waf');
    for (const [method, url] of [
      ['GET', `${path}/drop/${id}`],
      ['GET', `${path}/waf/${foreign.id}`],
      ['DELETE', `${path}/drop/${id}`],
      ['PATCH', `${path}/waf/${foreign.id}/toggle`],
      ['GET', `${path}/waf/0`],
      ['GET', `${path}/waf/abc`],
    ] as const) {
      const answer = await ask(method, url);
      expect([answer.status, answer.body.error], url).toEqual([404, 'rule not found']);
    }
  });

  it('409 domain_disabled for writes while the domain is disabled; reads stay open', async () => {
    const path = await fresh();
    const { id, domain_id: domainId } = await make(path, 'waf');
    await changeStatus(api.db, { domainId, event: 'disable', by: { kind: 'cli' }, source: 'test' });
    for (const [method, url] of [
      ['POST', `${path}/waf/`],
      ['PATCH', `${path}/waf/reorder`],
      ['PUT', `${path}/waf/${id}`],
      ['DELETE', `${path}/waf/${id}`],
      ['PATCH', `${path}/waf/${id}/toggle`],
    ] as const) {
      const answer = await ask(
        method,
        url,
        method === 'DELETE' || url.endsWith('toggle') ? undefined : { wrong: 1 },
      );
      expect([answer.status, answer.body.code], url).toEqual([409, 'domain_disabled']);
    }
    for (const as of ['owner', 'viewer'])
      expect((await ask('GET', `${path}/waf/${id}`, undefined, as)).status).toBe(200);
  });
});
