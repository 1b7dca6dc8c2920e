import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { isMark } from '../../../src/zone/zone.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api/api.ts';

let api: TestApi;
let domains = 0;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

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
    .map(
      (r: Record<string, unknown>) =>
        `${r.name} ${r.ttl} ${r.type} ${r.destination}${r.proxied ? ' proxied' : ''}`,
    )
    .sort();
}

async function idsOf(path: string, query: string): Promise<number[]> {
  const { body } = await api.ask('GET', `${path}?${query}`);
  return body.map((r: { id: number }) => r.id);
}

const A = (name: string, destination: string, more = {}) => ({ name, type: 'A', destination, ...more });

describe('a batch', () => {
  it('does all of its items in one change', async () => {
    const { path, domain } = await freshDomain();
    await put(path, { create: [A('gone', '192.0.2.1'), A('kept', '192.0.2.2'), A('set', '192.0.2.3')] });
    const [gone] = await idsOf(path, 'name=gone');
    const [kept] = await idsOf(path, 'name=kept');
    const answer = await put(path, {
      create: [A('new', '192.0.2.4'), A('new', '192.0.2.5')],
      update: [{ id: kept, ttl: 900 }],
      delete: [gone],
      replace: [
        {
          name: 'set',
          type: 'A',
          ttl: 60,
          records: [{ destination: '192.0.2.8' }, { destination: '192.0.2.9' }],
        },
      ],
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
    const changes = await api.ask('GET', `/domains/${domain}/changes`);
    expect(changes.body.map((c: { id: number }) => c.id)[0]).toBe(changeId);
    expect(changes.body[0].records.length).toBe(6);
  });

  it('is judged by its result: names may be swapped, an alias may take the place of an address', async () => {
    const { path } = await freshDomain();
    await put(path, { create: [A('a', '192.0.2.1'), A('b', '192.0.2.2'), A('www', '192.0.2.3')] });
    const [a] = await idsOf(path, 'name=a');
    const [b] = await idsOf(path, 'name=b');
    const [www] = await idsOf(path, 'name=www');
    const answer = await put(path, {
      create: [{ name: 'www', type: 'CNAME', destination: 'a.example.net' }],
      update: [
        { id: a, name: 'b' },
        { id: b, name: 'a' },
      ],
      delete: [www],
    });
    expect(answer.status).toBe(200);
    expect(await lines(path)).toEqual([
      'a 300 A 192.0.2.2',
      'b 300 A 192.0.2.1',
      'www 300 CNAME a.example.net',
    ]);
  });

  it('with one wrong item does nothing at all', async () => {
    const { path } = await freshDomain();
    await put(path, { create: [A('a', '192.0.2.1')] });
    const before = await lines(path);
    const [a] = await idsOf(path, 'name=a');
    const wrong = [
      [
        { create: [A('x', '192.0.2.9'), { name: 'a', type: 'CNAME', destination: 'o.example.net' }] },
        409,
        'create',
        1,
      ],
      [{ create: [A('x', '192.0.2.9')], delete: [999_999] }, 404, 'delete', 0],
      [{ create: [A('x', '192.0.2.9')], update: [{ id: 999_999, ttl: 60 }] }, 404, 'update', 0],
      [{ create: [A('x', '192.0.2.9'), A('y', 'nonsense')] }, 400, 'create', 1],
      [{ create: [A('x', '192.0.2.9')], delete: [a, a] }, 400, 'delete', 1],
      [
        {
          create: [A('x', '192.0.2.9')],
          replace: [{ name: 'a', type: 'A', records: [{ destination: '::1' }] }],
        },
        400,
        'replace',
        0,
      ],
      [{ create: [A('x', '192.0.2.9')], delete: await idsOf(path, 'type=NS&limit=1') }, 409, 'delete', 0],
    ] as const;
    for (const [body, status, list, index] of wrong) {
      const answer = await put(path, body);
      expect([answer.status, answer.body.items?.[0]?.list, answer.body.items?.[0]?.index]).toEqual([
        status,
        list,
        index,
      ]);
      expect(answer.body.items[0].error).toEqual(expect.any(String));
      expect(answer.headers['x-change-id']).toBeUndefined();
    }
    expect(await lines(path)).toEqual(before);
  });

  it('names the record inside a replacement that is wrong', async () => {
    const { path } = await freshDomain();
    const { body } = await put(path, {
      replace: [
        { name: 'ok', type: 'A', records: [{ destination: '192.0.2.1' }] },
        {
          name: 'mx',
          type: 'MX',
          records: [{ destination: 'a.example.net', mx_priority: 1 }, { destination: 'b.example.net' }],
        },
      ],
    });
    expect(body.items).toEqual([
      { list: 'replace', index: 1, field: 'records[1].mx_priority', error: expect.any(String) },
    ]);
  });

  it('of nothing changes nothing', async () => {
    const { path } = await freshDomain();
    for (const body of [{}, { create: [], update: [], delete: [], replace: [] }]) {
      const answer = await put(path, body);
      expect(answer.body).toEqual({ created: 0, updated: 0, deleted: 0, replaced: 0, serial: 1 });
    }
  });

  it('that is a dry run is judged the same and writes nothing', async () => {
    const { path } = await freshDomain();
    const good = await put(path, { create: [A('x', '192.0.2.9')] }, '?dry_run=true');
    expect([good.status, good.body]).toEqual([
      200,
      { created: 1, updated: 0, deleted: 0, replaced: 0, serial: 1 },
    ]);
    expect(good.headers['x-change-id']).toBeUndefined();
    expect((await put(path, { delete: [999_999] }, '?dry_run=true')).status).toBe(404);
    expect((await put(path, { create: [A('x', '192.0.2.9')] }, '?dry_run=maybe')).status).toBe(400);
    expect(await lines(path)).toEqual([]);
    expect((await put(path, { create: [A('x', '192.0.2.9')] }, '?dry_run=false')).body.change_id).toEqual(
      expect.any(Number),
    );
  });

  it.each([
    [null],
    [[]],
    [{ create: {} }],
    [{ create: [null] }],
    [{ delete: ['1'] }],
    [{ delete: [0] }],
    [{ delete: [1.5] }],
    [{ update: [{ ttl: 60 }] }],
    [{ update: [{ id: '1' }] }],
    [{ replace: [{ name: 'a', type: 'A' }] }],
    [{ replace: [{ name: 'a', records: [] }] }],
    [{ replace: [{ name: 'a', type: 'A', records: [{}] }] }],
    [{ replace: [{ name: 'a', type: 'A', records: [{ destination: '192.0.2.1', name: 'a' }] }] }],
    [{ upsert: [] }],
  ])('that is %j is a 400', async (body) => {
    const { path } = await freshDomain();
    const answer = await put(path, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  });

  it('that is not JSON is a 400', async () => {
    const { path } = await freshDomain();
    const answer = await api.ask('PUT', `${path}batch`, {
      body: '{"create":',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
  });
});

describe('a replaced set', () => {
  it('keeps the rows that stay and what is not said of them; a repeat changes nothing', async () => {
    const { path } = await freshDomain();
    await put(path, {
      create: [
        A('w', '192.0.2.1', { proxied: true, comment: 'one', port: 80 }),
        A('w', '192.0.2.2', { proxied: true }),
      ],
    });
    const before = await idsOf(path, 'name=w');
    const replace = [
      { name: 'w', type: 'A', records: [{ destination: '192.0.2.1' }, { destination: '192.0.2.7' }] },
    ];
    await put(path, { replace });
    const { body } = await api.ask('GET', `${path}?name=w`);
    expect(body.map((r: { id: number }) => r.id)).toEqual(before);
    expect(body[0]).toMatchObject({ destination: '192.0.2.1', comment: 'one', port: 80, proxied: true });
    expect(body[1]).toMatchObject({ destination: '192.0.2.7', proxied: true });
    const again = await put(path, { replace });
    expect(again.body).toEqual({ created: 0, updated: 0, deleted: 0, replaced: 1, serial: 3 });
    expect(again.headers['x-change-id']).toBeUndefined();
  });

  it('of no records is deleted, as is one that never was', async () => {
    const { path } = await freshDomain();
    await put(path, {
      create: [A('w', '192.0.2.1'), A('w', '192.0.2.2'), { name: 'w', type: 'TXT', destination: 'x' }],
    });
    const { status } = await put(path, {
      replace: [
        { name: 'w', type: 'A', records: [] },
        { name: 'never', type: 'A', records: [] },
      ],
    });
    expect(status).toBe(200);
    expect(await lines(path)).toEqual(['w 300 TXT x']);
  });

  it("at the apex cannot be the service's", async () => {
    const { path } = await freshDomain();
    const gone = await put(path, { replace: [{ name: '@', type: 'NS', records: [] }] });
    expect([gone.status, gone.body.code]).toEqual([409, 'record_managed']);
    const other = await put(path, {
      replace: [{ name: '@', type: 'NS', records: [{ destination: 'ns.example.net' }] }],
    });
    expect(other.status).toBe(400);
  });
});

describe('records deleted together', () => {
  it('are named in the query or in the body', async () => {
    const { path } = await freshDomain();
    await put(path, { create: ['a', 'b', 'c', 'd'].map((name) => A(name, '192.0.2.1')) });
    const [a, b, c, d] = await idsOf(path, 'type=A');
    const first = await api.ask('DELETE', `${path}batch?ids=${a},${b}`);
    expect([first.status, first.body]).toMatchObject([
      200,
      { deleted: 2, created: 0, serial: 3, message: expect.any(String) },
    ]);
    expect(first.body.change_id).toBe(Number(first.headers['x-change-id']));
    const dry = await api.ask('DELETE', `${path}batch?dry_run=true`, { body: { ids: [c] } });
    expect([dry.status, dry.body.deleted, dry.body.change_id]).toEqual([200, 1, undefined]);
    const second = await api.ask('DELETE', `${path}batch`, { body: { ids: [c] } });
    expect(second.status).toBe(200);
    expect(await idsOf(path, 'type=A')).toEqual([d]);
  });

  it('are all there or none is deleted', async () => {
    const { path } = await freshDomain();
    await put(path, { create: [A('a', '192.0.2.1')] });
    const [a] = await idsOf(path, 'type=A');
    const answer = await api.ask('DELETE', `${path}batch?ids=${a},999999`);
    expect([answer.status, answer.body.items]).toEqual([
      404,
      [{ list: 'delete', index: 1, field: 'id', error: 'the domain has no record 999999' }],
    ]);
    expect(await idsOf(path, 'type=A')).toEqual([a]);
  });

  it.each(['a', '-1', '1.5', '9007199254740992'])('are numbers, which %s is not', async (id) => {
    const { path } = await freshDomain();
    const { body } = await api.ask('DELETE', `${path}batch?ids=1,${id}`);
    expect(body).toEqual({
      error: 'ids[1]: expected an id, a positive integer',
      code: 'validation_failed',
      fields: [{ field: 'ids[1]', error: 'expected an id, a positive integer' }],
      items: [{ list: 'delete', index: 1, error: 'expected an id, a positive integer' }],
    });
  });

  it('are each listed once', async () => {
    const { path } = await freshDomain();
    await put(path, { create: [A('a', '192.0.2.1')] });
    const [a] = await idsOf(path, 'type=A');
    const { status, body } = await api.ask('DELETE', `${path}batch?ids=${a},${a}`);
    expect([status, body.fields]).toEqual([400, [{ field: 'ids[1]', error: expect.any(String) }]]);
    expect(body.items).toEqual([{ list: 'delete', index: 1, error: expect.any(String) }]);
  });

  it.each([
    ['', undefined, 'ids'],
    ['?ids=', undefined, 'ids[0]'],
    ['?ids=x', undefined, 'ids[0]'],
    ['?ids=1,0', undefined, 'ids[1]'],
    ['?ids=1,,2', undefined, 'ids[1]'],
    ['?ids=1', { ids: [1] }, 'ids'],
    ['', { ids: [] }, 'ids'],
    ['', { ids: ['1'] }, 'ids[0]'],
    ['', { ids: 1 }, 'ids'],
    ['', { id: [1] }, 'id'],
    ['', {}, 'ids'],
  ])('%s %j names %s', async (query, body, field) => {
    const { path } = await freshDomain();
    const answer = await api.ask('DELETE', `${path}batch${query}`, { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
    expect(answer.body.fields.map((f: { field: string }) => f.field)).toContain(field);
  });
});

describe('ten thousand items', () => {
  it('are taken in one call, published, changed and deleted', async () => {
    const { path, domain } = await freshDomain();
    const create = Array.from({ length: 10_000 }, (_, i) => A(`h${i}.x`, `192.0.2.${i % 256}`));
    const made = await put(path, { create });
    expect(made.body).toMatchObject({ created: 10_000, serial: 2 });
    const published = async () =>
      (await loadZone(api.db, parseName(`${domain}.`)))?.records.filter((record) => !isMark(record)).length;
    expect(await published()).toBe(10_003);
    const ids = await idsOf(path, 'type=A');
    const changed = await put(path, {
      update: ids.slice(0, 5000).map((id) => ({ id, destination: '198.51.100.1' })),
      delete: ids.slice(5000),
    });
    expect(changed.body).toMatchObject({ updated: 5000, deleted: 5000, serial: 3 });
    expect(await published()).toBe(5_003);
  });

  it('and one are refused, however they are spread', async () => {
    const { path } = await freshDomain();
    const create = (count: number) => Array.from({ length: count }, (_, i) => A(`h${i}`, '192.0.2.1'));
    const contents = Array.from({ length: 5_000 }, (_, i) => ({ destination: `t${i}` }));
    for (const body of [
      { create: create(10_001) },
      { create: create(5_000), delete: Array.from({ length: 5_001 }, (_, i) => i + 1) },
      { create: create(5_001), replace: [{ name: 't', type: 'TXT', records: contents }] },
    ]) {
      const answer = await put(path, body);
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
    }
    expect(await lines(path)).toEqual([]);
  });

  it('that all are wrong are told as far as anybody reads', async () => {
    const { path } = await freshDomain();
    const create = Array.from({ length: 10_000 }, (_, i) => A(`h${i}`, 'nonsense'));
    const { status, body } = await put(path, { create });
    expect([status, body.items.length]).toEqual([400, 20]);
  });
});

it('a body of more than 32 MiB is a 400', async () => {
  const { path } = await freshDomain();
  const answer = await put(path, { create: [A('a', 'x'.repeat(33 * 1024 * 1024))] });
  expect(answer.status).toBe(400);
});

it('a repeat with an Idempotency-Key is answered and not done again', async () => {
  const { path } = await freshDomain();
  const asked = {
    body: { create: [A('a', '192.0.2.1')] },
    headers: { 'idempotency-key': `batch-${domains}` },
  };
  const first = await api.ask('PUT', `${path}batch`, asked);
  const again = await api.ask('PUT', `${path}batch`, asked);
  expect([again.status, again.body, again.headers['idempotent-replay']]).toEqual([200, first.body, 'true']);
  const [id] = await idsOf(path, 'type=A');
  const gone = { headers: { 'idempotency-key': `gone-${domains}` } };
  expect((await api.ask('DELETE', `${path}batch?ids=${id}`, gone)).status).toBe(200);
  expect((await api.ask('DELETE', `${path}batch?ids=${id}`, gone)).headers['idempotent-replay']).toBe('true');
  const failing = { body: { delete: [999_999] }, headers: { 'idempotency-key': `fails-${domains}` } };
  expect((await api.ask('PUT', `${path}batch`, failing)).status).toBe(404);
  expect((await api.ask('PUT', `${path}batch`, failing)).status).toBe(404);
  expect((await api.ask('PUT', `${path}batch`, { ...failing, body: {} })).status).toBe(200);
});
