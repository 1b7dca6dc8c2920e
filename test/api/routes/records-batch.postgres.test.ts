import { describe, expect, it } from 'vitest';
import { type Answer, sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
let domains = 0;

async function freshDomain(): Promise<{ path: string; domain: string }> {
  const domain = `b${++domains}.example`;
  await api.makeDomain(domain);
  return { path: `/domains/${domain}/records/`, domain };
}

function put(path: string, body: unknown, query = ''): Promise<Answer> {
  return api.ask('PUT', `${path}batch${query}`, { body });
}

async function lines(path: string): Promise<string[]> {
  const { body } = await api.ask('GET', path);
  return body
    .filter((r: { editable: boolean }) => r.editable)
    .map((r: Record<string, unknown>) => `${r.name} ${r.ttl} ${r.type} ${r.destination}`)
    .sort();
}

async function idsOf(path: string, query: string): Promise<number[]> {
  const { body } = await api.ask('GET', `${path}?${query}`);
  return body.map((r: { id: number }) => r.id);
}

const A = (name: string, destination: string) => ({ name, type: 'A', destination });
const error = expect.any(String);

describe('PUT batch', () => {
  it('carries out all items in one change', async () => {
    const { path, domain } = await freshDomain();
    await put(path, { create: [A('gone', '192.0.2.1'), A('kept', '192.0.2.2'), A('set', '192.0.2.3')] });
    const [gone] = await idsOf(path, 'name=gone');
    const [kept] = await idsOf(path, 'name=kept');
    const records = [{ destination: '192.0.2.8' }, { destination: '192.0.2.9' }];
    const answer = await put(path, {
      create: [A('new', '192.0.2.4'), A('new', '192.0.2.5')],
      update: [{ id: kept, ttl: 900 }],
      delete: [gone],
      replace: [{ name: 'set', type: 'A', ttl: 60, records }],
    });
    const changeId = Number(answer.headers['x-change-id']);
    expect([answer.status, answer.body]).toEqual([
      200,
      { created: 2, updated: 1, deleted: 1, replaced: 1, change_id: changeId, serial: 3 },
    ]);
    expect(answer.headers['x-zone-serial']).toBe('3');
    expect(await lines(path)).toEqual([
      'kept 900 A 192.0.2.2',
      'new 300 A 192.0.2.4',
      'new 300 A 192.0.2.5',
      'set 60 A 192.0.2.8',
      'set 60 A 192.0.2.9',
    ]);
    const [change] = (await api.ask('GET', `/domains/${domain}/changes`)).body;
    expect([change.id, change.records.length]).toEqual([changeId, 6]);
  });

  it('writes nothing if one item is wrong, and reports it by list and index', async () => {
    const { path } = await freshDomain();
    await put(path, { create: [A('a', '192.0.2.1')] });
    const before = await lines(path);
    const [a] = await idsOf(path, 'name=a');
    const [ns] = await idsOf(path, 'type=NS&limit=1');
    const x = A('x', '192.0.2.9');
    const wrong = [
      [{ create: [x, { ...A('a', 'o.example.net'), type: 'CNAME' }] }, 409, 'create', 1],
      [{ create: [x], delete: [999_999] }, 404, 'delete', 0],
      [{ create: [x], update: [{ id: 999_999, ttl: 60 }] }, 404, 'update', 0],
      [{ create: [x, A('y', 'nonsense')] }, 400, 'create', 1],
      [{ create: [x], delete: [a, a] }, 400, 'delete', 1],
      [{ create: [x], delete: [ns] }, 409, 'delete', 0],
    ] as const;
    for (const [body, status, list, index] of wrong) {
      const answer = await put(path, body);
      expect([answer.status, answer.body.items[0]]).toMatchObject([status, { list, index, error }]);
      expect(answer.headers['x-change-id']).toBeUndefined();
    }
    expect(await lines(path)).toEqual(before);
  });

  it('reports the first 20 problems', async () => {
    const { path } = await freshDomain();
    const create = Array.from({ length: 30 }, (_, i) => A(`h${i}`, 'nonsense'));
    const { status, body } = await put(path, { create });
    expect([status, body.items.length]).toEqual([400, 20]);
  });

  it('without items makes no change', async () => {
    const { path } = await freshDomain();
    for (const body of [{}, { create: [], update: [], delete: [], replace: [] }]) {
      const answer = await put(path, body);
      expect(answer.body).toEqual({ created: 0, updated: 0, deleted: 0, replaced: 0, serial: 1 });
    }
  });

  it('validates a dry run and writes nothing', async () => {
    const { path } = await freshDomain();
    const body = { create: [A('x', '192.0.2.9')] };
    const good = await put(path, body, '?dry_run=true');
    expect([good.status, good.body]).toEqual([
      200,
      { created: 1, updated: 0, deleted: 0, replaced: 0, serial: 1 },
    ]);
    expect(good.headers['x-change-id']).toBeUndefined();
    expect((await put(path, { delete: [999_999] }, '?dry_run=true')).status).toBe(404);
    expect((await put(path, body, '?dry_run=maybe')).status).toBe(400);
    expect((await put(path, body, '?dryrun=true')).status).toBe(400);
    expect(await lines(path)).toEqual([]);
    expect((await put(path, body, '?dry_run=false')).body.change_id).toEqual(expect.any(Number));
  });

  it('repeats its response for a repeated Idempotency-Key, unless it failed', async () => {
    const { path } = await freshDomain();
    const keyed = (name: string, body?: object) => ({
      body,
      headers: { 'idempotency-key': `${name}-${domains}` },
    });
    const create = keyed('create', { create: [A('a', '192.0.2.1')] });
    const first = await api.ask('PUT', `${path}batch`, create);
    const again = await api.ask('PUT', `${path}batch`, create);
    expect([again.status, again.body, again.headers['idempotent-replay']]).toEqual([200, first.body, 'true']);
    const gone = `${path}batch?ids=${await idsOf(path, 'type=A')}`;
    expect((await api.ask('DELETE', gone, keyed('gone'))).status).toBe(200);
    expect((await api.ask('DELETE', gone, keyed('gone'))).headers['idempotent-replay']).toBe('true');
    const failing = keyed('fails', { delete: [999_999] });
    for (const _ of [1, 2]) expect((await api.ask('PUT', `${path}batch`, failing)).status).toBe(404);
    expect((await api.ask('PUT', `${path}batch`, keyed('fails', {}))).status).toBe(200);
  });
});

describe('DELETE batch', () => {
  it('takes ids in the query or in the body', async () => {
    const { path } = await freshDomain();
    await put(path, { create: ['a', 'b', 'c', 'd'].map((name) => A(name, '192.0.2.1')) });
    const [a, b, c, d] = await idsOf(path, 'type=A');
    const first = await api.ask('DELETE', `${path}batch?ids=${a},${b}`);
    expect([first.status, first.body]).toMatchObject([
      200,
      { deleted: 2, created: 0, serial: 3, message: '2 records deleted' },
    ]);
    expect(first.body.change_id).toBe(Number(first.headers['x-change-id']));
    const dry = await api.ask('DELETE', `${path}batch?dry_run=true`, { body: { ids: [c] } });
    expect([dry.status, dry.body.deleted, dry.body.change_id]).toEqual([200, 1, undefined]);
    const second = await api.ask('DELETE', `${path}batch`, { body: { ids: [c] } });
    expect([second.status, second.body.message]).toEqual([200, 'record deleted']);
    expect(await idsOf(path, 'type=A')).toEqual([d]);
  });

  it('deletes nothing unless every id is found, once', async () => {
    const { path } = await freshDomain();
    await put(path, { create: [A('a', '192.0.2.1')] });
    const [a] = await idsOf(path, 'type=A');
    const missing = await api.ask('DELETE', `${path}batch?ids=${a},999999`);
    expect([missing.status, missing.body.items]).toEqual([
      404,
      [{ list: 'delete', index: 1, field: 'id', error: 'the domain has no record 999999' }],
    ]);
    const twice = await api.ask('DELETE', `${path}batch?ids=${a},${a}`);
    expect([twice.status, twice.body.fields]).toEqual([400, [{ field: 'ids[1]', error }]]);
    expect(twice.body.items).toEqual([{ list: 'delete', index: 1, error }]);
    expect(await idsOf(path, 'type=A')).toEqual([a]);
  });

  it.each([
    ['', undefined, 'ids'],
    ['?ids=', undefined, 'ids[0]'],
    ['?ids=1,0', undefined, 'ids[1]'],
    ['?ids=1,9007199254740992', undefined, 'ids[1]'],
    ['?ids=1,,2', undefined, 'ids[1]'],
    ['?ids=1', { ids: [1] }, 'ids'],
    ['', { ids: ['1'] }, 'ids[0]'],
  ])('%s %j is refused at %s', async (query, body, field) => {
    const { path } = await freshDomain();
    const answer = await api.ask('DELETE', `${path}batch${query}`, { body });
    expect([answer.status, answer.body.code, answer.body.fields[0].field]).toEqual([
      400,
      'validation_failed',
      field,
    ]);
    const [, index] = /\[(\d)\]/.exec(field) ?? [];
    if (index !== undefined)
      expect(answer.body.items).toEqual([{ list: 'delete', index: Number(index), error }]);
  });
});
