import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { checkPublished } from '../../../src/store/housekeeping/check-published.ts';
import { type Answer, sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
let domains = 0;

interface Fresh {
  readonly domain: string;
  readonly path: string;
  readonly id: number;
}

async function freshDomain(planSlug?: string | null): Promise<Fresh> {
  const domain = `i${++domains}.example`;
  const { id } = await api.makeDomain(domain, planSlug === undefined ? {} : { planSlug });
  return { domain, path: `/domains/${domain}/records/`, id };
}

function put(path: string, body: unknown): Promise<Answer> {
  return api.ask('PUT', `${path}batch`, { body });
}

function load(path: string, records: unknown, query = ''): Promise<Answer> {
  return api.ask('POST', `${path}import${query}`, { body: { records } });
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
async function list(path: string, query = ''): Promise<any[]> {
  const { body } = await api.ask('GET', `${path}${query}`);
  return body.filter((r: { editable: boolean }) => r.editable);
}

async function lines(path: string): Promise<string[]> {
  const all = await list(path);
  return all.map((r) => `${r.name} ${r.ttl} ${r.type} ${r.destination}${r.proxied ? ' proxied' : ''}`).sort();
}

const item = (name: string, type: string, destination: string, more = {}) => ({
  name,
  type,
  destination,
  ...more,
});
const A = (name: string, destination: string, more = {}) => item(name, 'A', destination, more);

describe('POST import', () => {
  it('adds valid items in one change and reports the others', async () => {
    const { path, domain, id } = await freshDomain();
    const records = [
      A('www', '192.0.2.1'),
      A('www', '192.0.2'),
      item('@', 'MX', 'mail.example.net', { mx_priority: 10, ttl: 1 }),
      item('@', 'MX', 'mail.example.net', { mx_priority: 70_000 }),
      item('a..b', 'TXT', 'x'),
      item('@', 'NS', 'ns.example.net'),
      item('@', 'CNAME', 'example.net'),
      item('t', 'TXT', 'x', { comment: 'y'.repeat(1025) }),
      item('p', 'MX', 'mail.example.net', { mx_priority: 1, proxied: true }),
      item('late', 'A', '192.0.2.9', { ttl: 999_999_999, timeout: 0 }),
      item('late', 'A', '192.0.2.8', { ttl: 999_999_999 }),
      A('n'.repeat(2000), '192.0.2.1'),
      A('b\ud800', '192.0.2.1'),
    ];
    const headers = { 'idempotency-key': `import-${domains}` }; // The response is stored, which a lone surrogate cannot be.
    const answer = await api.ask('POST', `${path}import`, { body: { records }, headers });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ created: 3, overwritten: 0, removed: 0, serial: 2 });
    expect(answer.body.change_id).toBe(Number(answer.headers['x-change-id']));
    expect(answer.headers['x-zone-serial']).toBe('2');
    expect(answer.body.failed.map((f: { index: number }) => f.index)).toEqual([
      1, 3, 4, 5, 6, 7, 8, 9, 11, 12,
    ]);
    expect(answer.body.failed.at(-1).name).toBe('b\ufffd');
    expect(answer.body.failed[0]).toEqual({ index: 1, name: 'www', type: 'A', error: expect.any(String) });
    expect(await lines(path)).toEqual([
      '@ 60 MX mail.example.net',
      'late 86400 A 192.0.2.8',
      'www 300 A 192.0.2.1',
    ]);
    const changes = await api.ask('GET', `/domains/${domain}/changes`);
    expect(changes.body[0]).toMatchObject({ id: answer.body.change_id, source: 'import' });
    expect(changes.body[0].records).toHaveLength(3);
    expect(await checkPublished(api.db, id)).toEqual([]);
  });

  it('returns the id of each record that it created or overwrote', async () => {
    const { path } = await freshDomain();
    await load(path, [A('a', '192.0.2.1'), item('@', 'MX', 'mx.example.net', { mx_priority: 30 })]);
    const records = [
      A('new', '192.0.2.1'),
      A('a', '192.0.2.2'),
      A('bad', 'x'),
      item('@', 'MX', 'mx.example.net'),
      item('t', 'TXT', 'x'),
    ];
    const [a, mx] = await list(path, '?sort=type');
    const tried = await load(path, records, '?dry_run=true');
    expect(tried.body.records).toBeUndefined();
    const headers = { 'idempotency-key': `ids-${domains}` };
    const { body } = await api.ask('POST', `${path}import`, { body: { records }, headers });
    expect(body).toMatchObject({ created: 2, overwritten: 2, failed: [{ index: 2 }] });
    expect(body.records.map((r: { index: number }) => r.index)).toEqual([0, 1, 3, 4]);
    for (const { index, id } of body.records) {
      const { body: record } = await api.ask('GET', `${path}${id}`);
      expect(record).toMatchObject(records[index] as object);
    }
    expect([body.records[1].id, body.records[2].id]).toEqual([a.id, mx.id]);
    expect((await api.ask('GET', `${path}${mx.id}`)).body.mx_priority).toBe(30);
  });

  it('without a valid item makes no change', async () => {
    const { path } = await freshDomain();
    const answer = await load(path, [A('www', 'x'), item('@', 'NS', 'ns.example.net')]);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { created: 0, overwritten: 0, removed: 0, serial: 1, failed: [{ index: 0 }, { index: 1 }] },
    ]);
    expect(answer.body.change_id).toBeUndefined();
    expect(answer.headers['x-change-id']).toBeUndefined();
  });

  it('writes nothing in a dry run', async () => {
    const { path } = await freshDomain();
    const answer = await load(path, [A('a', '192.0.2.1'), A('a', 'x')], '?dry_run=true');
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { created: 1, failed: [{ index: 1 }], serial: 1 },
    ]);
    expect(await lines(path)).toEqual([]);
  });

  it('repeats a large response of which only a part is stored', async () => {
    const { path } = await freshDomain();
    await load(path, [item('taken', 'CNAME', 'elsewhere.example.net')]);
    const bad = Array.from({ length: 500 }, (_, i) => [
      A(`w${i}`, '192.0.2'),
      A('taken', `192.0.2.${i % 250}`),
      A(`w${i}`, '192.0.2.1'),
    ]).flat();
    const ask = (body: unknown, key: string) =>
      api.ask('POST', `${path}import`, { body, headers: { 'idempotency-key': key } });
    const key = `large-${domains}`;
    const first = await ask({ records: bad }, key);
    expect(first.body).toMatchObject({ created: 500, overwritten: 0 });
    expect(first.body.failed).toHaveLength(1000);
    expect(first.text.length).toBeGreaterThan(65_536);
    const { rows } = await sql<{ octets: number; change_id: number }>`
      select octet_length(response::text) as octets, change_id from idempotency_keys where key = ${key}`.execute(
      api.database.db,
    );
    expect(rows[0]?.octets).toBeLessThan(65_536);
    expect(rows[0]?.change_id).toBe(first.body.change_id);
    await load(path, [A('later', '192.0.2.9')]); // later records make no difference
    const again = await ask({ records: bad }, key);
    expect(again.headers['idempotent-replay']).toBe('true');
    expect(again.headers['x-change-id']).toBe(first.headers['x-change-id']);
    expect(again.text).toBe(first.text);
    expect((await ask({ records: bad.slice(1) }, key)).status).toBe(422);
    expect(await list(path)).toHaveLength(502);
  });

  it('returns the change if its response can no longer be repeated', async () => {
    const { path } = await freshDomain();
    const body = { records: [A('x', '192.0.2.1')] };
    const headers = { 'idempotency-key': `lost-${domains}` };
    const ask = () => api.ask('POST', `${path}import`, { body, headers });
    const first = await ask();
    await sql`
      update idempotency_keys set digest = sha256('another'), octets = 0,
        response = json_build_object('status', 200, 'headers', response->'headers')
      where key = ${headers['idempotency-key']}`.execute(api.database.db);
    const again = await ask();
    expect([again.status, again.headers['idempotent-replay']]).toEqual([200, 'true']);
    expect(again.headers['x-change-id']).toBe(first.headers['x-change-id']);
    expect(again.body).toEqual({
      message: 'this call was carried out; its answer is no longer kept',
      change_id: first.body.change_id,
    });
    expect(await list(path)).toHaveLength(1);
  });
});

describe('items of one name and type', () => {
  it('replace the records of the set, which keep their ids and settings for the edge', async () => {
    const { path, id } = await freshDomain();
    await put(path, {
      create: [
        A('w', '192.0.2.1', { port: 80, proxied: true, comment: 'one' }),
        A('w', '192.0.2.2', { host_header: 'two.example', proxied: true }),
        item('w', 'AAAA', '2001:db8::1', { proxied: true }),
      ],
    });
    const before = await list(path, '?type=A');
    const answer = await load(path, [
      A('w', '192.0.2.2', { proxied: false, port: 8080, comment: 'new' }),
      A('w', '192.0.2.3', { ttl: 600 }),
      A('w', '192.0.2.4'),
    ]);
    expect(answer.body).toMatchObject({ created: 1, overwritten: 2, removed: 0, failed: [] });
    const after = await list(path, '?type=A&sort=updated_at');
    const byId = (wanted: number) => after.find((r) => r.id === wanted);
    expect(byId(before[1].id)).toMatchObject({
      destination: '192.0.2.2',
      host_header: 'two.example',
      port: 443,
      proxied: true,
      comment: 'new',
      ttl: 600,
    });
    expect(byId(before[0].id)).toMatchObject({
      destination: '192.0.2.3',
      port: 80,
      proxied: true,
      comment: 'one',
    });
    // the new record takes over the setting of its set
    expect(after.find((r) => r.destination === '192.0.2.4')).toMatchObject({ proxied: true, ttl: 600 });
    expect(await list(path, '?type=AAAA')).toHaveLength(1);
    expect(await checkPublished(api.db, id)).toEqual([]);
  });

  it('remove no record if one of them failed', async () => {
    const { path } = await freshDomain();
    await put(path, { create: [A('w', '192.0.2.1'), A('w', '192.0.2.2')] });
    const unread = await load(path, [A('w', '192.0.2.2'), A('w', 'nonsense')]);
    expect(unread.body).toMatchObject({ overwritten: 1, removed: 0, failed: [{ index: 1 }] });
    const refused = await load(path, [
      A('w', '192.0.2.2'),
      A('w', '192.0.2.7', { comment: 'x'.repeat(1025) }),
    ]);
    expect(refused.body).toMatchObject({ overwritten: 1, removed: 0, failed: [{ index: 1 }] });
    expect(await lines(path)).toEqual(['w 300 A 192.0.2.1', 'w 300 A 192.0.2.2']);
  });
});

it('TXT records are added to the set, equal ones too, and published once', async () => {
  const { path, id } = await freshDomain();
  const records = [item('t', 'TXT', 'x'), item('t', 'TXT', 'y')];
  expect((await load(path, records)).body).toMatchObject({ created: 2 });
  expect((await load(path, records)).body).toMatchObject({
    created: 2,
    overwritten: 0,
    removed: 0,
    failed: [],
  });
  expect(await lines(path)).toEqual(['t 300 TXT x', 't 300 TXT x', 't 300 TXT y', 't 300 TXT y']);
  expect(await checkPublished(api.db, id)).toEqual([]);
});

describe('items that conflict', () => {
  it('with each other are left out, except the first', async () => {
    const { path } = await freshDomain();
    const answer = await load(path, [
      A('a', '192.0.2.1'),
      A('a', '192.0.2.2'),
      item('a', 'CNAME', 'x.example.net'),
      item('c', 'CNAME', 'x.example.net'),
      item('c', 'CNAME', 'y.example.net'),
      item('c', 'TXT', 'x'),
      A('p', '192.0.2.1', { proxied: true }),
      A('p', '192.0.2.2'),
      item('sub', 'NS', 'ns.sub'),
      A('ns.sub', '192.0.2.3'),
      A('lost.sub', '192.0.2.4'),
      item('d', 'DS', `1 8 2 ${'0'.repeat(64)}`),
    ]);
    expect(answer.body.failed.map((f: { index: number }) => f.index)).toEqual([2, 4, 5, 7, 9, 10, 11]);
    expect(await lines(path)).toEqual([
      'a 300 A 192.0.2.1',
      'a 300 A 192.0.2.2',
      'c 300 CNAME x.example.net',
      'p 300 A 192.0.2.1 proxied',
      'sub 300 NS ns.sub',
    ]);
  });
});

describe('an import is refused as a whole', () => {
  it('if its form is wrong', async () => {
    const { path } = await freshDomain();
    const answer = await api.ask('POST', `${path}import`, { body: { records: [{ name: 'a', type: 'A' }] } });
    expect([answer.status, answer.body.code, answer.body.fields[0].field]).toEqual([
      400,
      'validation_failed',
      'records[0].destination',
    ]);
  });

  it('without a plan', async () => {
    const { path } = await freshDomain(null);
    const answer = await load(path, [A('a', '192.0.2.1')]);
    expect([answer.status, answer.body.code]).toEqual([402, 'no_active_plan']);
  });

  it('beyond the record limit of the plan', async () => {
    const { path } = await freshDomain('free');
    const many = (count: number) => Array.from({ length: count }, (_, i) => A(`h${i}`, '192.0.2.1'));
    const answer = await load(path, many(201));
    expect([answer.status, answer.body.code, answer.body.limit]).toEqual([403, 'plan_limit', 200]);
    expect(await lines(path)).toEqual([]);
    expect((await load(path, [...many(200), A('bad', 'x')])).body).toMatchObject({ created: 200 });
  });

  it('if its API key may not write one of the records', async () => {
    const { path, domain } = await freshDomain();
    const key = await api.makeKey({ names: [`a.${domain}`], types: ['A'] });
    const as = (records: unknown) => api.ask('POST', `${path}import`, { as: key, body: { records } });
    expect((await as([A('a', '192.0.2.1'), A('b', '192.0.2.1')])).status).toBe(403);
    expect((await as([A('a', '192.0.2.1'), item('a', 'AAAA', 'x')])).status).toBe(403);
    expect((await as([A('a', '192.0.2.1')])).body).toMatchObject({ created: 1 });
  });
});
