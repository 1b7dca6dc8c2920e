import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeIdempotency } from '../../../src/store/housekeeping/purge-idempotency.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api/api.ts';

let api: TestApi;
let domains = 0;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

/** A domain of its own for a test, by the path of its records. */
async function freshRecords(options?: Parameters<TestApi['makeDomain']>[1]): Promise<string> {
  const name = `d${++domains}.example`;
  await api.makeDomain(name, options);
  return `/domains/${name}/records/`;
}

async function create(path: string, body: object): Promise<Answer['body']> {
  const answer = await api.ask('POST', path, { body });
  expect(answer.text).not.toContain('"error"');
  return answer.body;
}

const names = ({ body }: Answer): string[] => body.map((record: { name: string }) => record.name);
const lines = ({ body }: Answer): string[] =>
  body.map((r: Record<string, unknown>) => `${r.name} ${r.ttl} ${r.type} ${r.destination}`).sort();

describe('a new record', () => {
  it('is answered whole, with every default, and tells its change and serial', async () => {
    const path = await freshRecords();
    const answer = await api.ask('POST', path, {
      body: { name: 'WWW', type: 'A', destination: '192.0.2.7' },
    });
    expect(answer.status).toBe(200);
    const { id, domain_id, created_at, updated_at, ...rest } = answer.body;
    expect([id, domain_id].every(Number.isInteger)).toBe(true);
    expect(created_at).toBe(updated_at);
    expect(rest).toEqual({
      user_id: api.accountIds.owner,
      name: 'www',
      original_name: `www.d${domains}.example.`,
      type: 'A',
      destination: '192.0.2.7',
      dns_content: '192.0.2.7',
      ttl: 300,
      proxied: false,
      captcha: false,
      editable: true,
      scheme: 'Default',
      port: 443,
      monitor: false,
      timeout: 15,
    });
    const change = await api.ask(
      'GET',
      `${path.replace('records/', 'changes/')}${answer.headers['x-change-id']}`,
    );
    expect(change.body).toMatchObject({ serial: Number(answer.headers['x-zone-serial']), source: 'api' });
    expect((await api.ask('GET', `${path}${id}`)).body).toEqual(answer.body);
  });

  it('keeps every field that the caller sets', async () => {
    const path = await freshRecords();
    const fields = {
      name: '*.shop',
      type: 'AAAA',
      destination: '2001:db8::7',
      ttl: 86400,
      proxied: true,
      captcha: true,
      scheme: 'Https',
      port: 8443,
      host_header: 'origin.example.net',
      monitor: true,
      dest_country: 'NL',
      timeout: 60,
      comment: 'naïve 🦀',
    };
    const record = await create(path, fields);
    expect(record).toMatchObject(fields);
    expect(record.dns_content).toBe('192.0.2.1, 2001:db8::1');
  });

  it.each([
    ['@', '@', 'A', '192.0.2.1', '192.0.2.1'],
    ['bücher', 'xn--bcher-kva', 'CNAME', 'Ziel.Example.NET.', 'Ziel.Example.NET'],
    ['_sip._tcp', '_sip._tcp', 'SRV', '1 2 5060 sip.example.net', '1 2 5060 sip.example.net'],
    ['txt', 'txt', 'TXT', 'v=spf1 -all', 'v=spf1 -all'],
    ['cut', 'cut', 'TXT', '"a" "b"', '"a" "b"'],
    ['caa', 'caa', 'CAA', '0 issue "ca.example.net"', '0 issue "ca.example.net"'],
    ['svc', 'svc', 'HTTPS', '1 . alpn=h2', '1 . alpn=h2'],
    ['alias', 'alias', 'ANAME', '@', undefined],
  ])('%s is stored as %s', async (name, stored, type, destination, shown) => {
    const path = await freshRecords();
    const record = await create(path, { name, type, destination });
    expect([record.name, record.destination]).toEqual([stored, shown ?? `d${domains}.example`]);
  });

  it('brings the other records of its set to its TTL', async () => {
    const path = await freshRecords();
    const first = await create(path, { name: 'a', type: 'A', destination: '192.0.2.1', ttl: 600 });
    const second = await create(path, { name: 'a', type: 'A', destination: '192.0.2.2' });
    expect(second.ttl).toBe(600);
    await create(path, { name: 'a', type: 'A', destination: '192.0.2.3', ttl: 60 });
    expect((await api.ask('GET', `${path}${first.id}`)).body.ttl).toBe(60);
  });

  it('is answered as at first when its kept answer had to make room', async () => {
    const path = await freshRecords();
    const headers = { 'idempotency-key': `room${domains}` };
    const create = () =>
      api.ask('POST', path, { body: { name: 'r', type: 'A', destination: '192.0.2.1' }, headers });
    const batch = () =>
      api.ask('PUT', `${path}batch`, {
        body: { create: [{ name: 's', type: 'A', destination: '192.0.2.1' }] },
        headers: { 'idempotency-key': `batch${domains}` },
      });
    const firsts = [await create(), await batch()];
    await sql`update idempotency_octets set octets = 100000001`.execute(api.database.db);
    expect((await purgeIdempotency(api.database.db)).shrunk).toBeGreaterThan(1);
    const agains = [await create(), await batch()];
    expect(agains.map(({ text }) => text)).toEqual(firsts.map(({ text }) => text));
    for (const { headers } of agains) expect(headers['idempotent-replay']).toBe('true');
  });

  it('of twenty at once with one Idempotency-Key is made once', async () => {
    const path = await freshRecords();
    const headers = { 'idempotency-key': `twenty${domains}` };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        api.ask('POST', path, { body: { name: 't', type: 'A', destination: '192.0.2.1' }, headers }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers['idempotent-replay'] === undefined)).toHaveLength(1);
  });

  it('is made once with an Idempotency-Key', async () => {
    const path = await freshRecords();
    const asked = {
      body: { name: 'once', type: 'TXT', destination: 'x' },
      headers: { 'idempotency-key': `k${domains}` },
    };
    const first = await api.ask('POST', path, asked);
    const again = await api.ask('POST', path, asked);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replay']).toBe('true');
    expect(again.headers['x-change-id']).toBe(first.headers['x-change-id']);
    expect(names(await api.ask('GET', `${path}?type=TXT`))).toEqual(['once']);
  });
});

const GOOD = { name: 'ok', type: 'A', destination: '192.0.2.1' };
const WRONG: [field: string, ...values: unknown[]][] = [
  ['name', undefined, null, 1, '', 'a..b', 'x'.repeat(64), 'a.*.b', 'other.test.', 'x y', ['a'], {}, true],
  ['type', undefined, null, 1, '', 'a', 'SOA', 'ANY', ['A'], {}],
  ['destination', undefined, null, 1, '', 'host', '192.0.2.256', '2001:db8::1', ['192.0.2.1'], {}, false],
  ['mx_priority', null, '10', -1, 65536, 1.5, 10, [], true],
  ['ttl', null, '300', 59, 86401, 300.5, -1, 1e300, [], true],
  ['proxied', null, 'true', 1, 0, []],
  ['captcha', null, 'true', 1, {}],
  ['scheme', null, '', 'https', 1, []],
  ['port', null, '443', 0, 65536, 1.5, []],
  ['host_header', null, 1, 'a b', 'x'.repeat(256), '.', []],
  ['monitor', null, 'no', 1],
  ['dest_country', null, 'nl', 'NLD', 1, 'N', []],
  ['timeout', null, '15', 0, 3601, 1.5],
  ['comment', null, 1, 'x'.repeat(1025), []],
  ['nonsense', 1, 'x', null],
];

describe('a wrong value', () => {
  const cases = WRONG.flatMap(([field, ...values]) => values.map((value) => [field, value] as const));
  let path: string;
  let id: number;
  beforeAll(async () => {
    path = await freshRecords();
    ({ id } = await create(path, { ...GOOD, name: 'there' }));
  });

  it.each(cases)('of %s in a new record is a 400 that names it: %j', async (field, value) => {
    const { status, body } = await api.ask('POST', path, { body: { ...GOOD, [field]: value } });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields.map((f: { field: string }) => f.field)).toContain(field);
  });

  it.each(
    cases.filter(([, value]) => value !== undefined),
  )('of %s in a change is a 400 that names it: %j', async (field, value) => {
    const { status, body } = await api.ask('PUT', `${path}${id}`, { body: { [field]: value } });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields.map((f: { field: string }) => f.field)).toContain(field);
  });

  it.each(cases)('of %s in a batch is a 400 that names item and field: %j', async (field, value) => {
    const { status, body } = await api.ask('PUT', `${path}batch`, {
      body: { create: [GOOD, { ...GOOD, [field]: value }] },
    });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.items).toContainEqual(expect.objectContaining({ list: 'create', index: 1, field }));
    expect(body.fields).toContainEqual(expect.objectContaining({ field: `create[1].${field}` }));
  });

  it.each([
    ['NS', '@', 'ns.example.net', 'type'],
    ['DS', '@', `1 13 2 ${'0'.repeat(64)}`, 'type'],
    ['CNAME', '@', 'www.example.net', 'type'],
    ['NS', '*.w', 'ns.example.net', 'name'],
    ['MX', 'mx', 'mail.example.net', 'mx_priority'],
    ['CNAME', 'c', '192.0.2.1', 'destination'],
    ['TXT', 't', '"open', 'destination'],
    ['SRV', '_a._tcp', '1 2 host.example.net', 'destination'],
    ['CAA', 'caa', 'issue ca.example.net', 'destination'],
    ['TLSA', '_443._tcp', '9 9 9 zz', 'destination'],
    ['HTTPS', 'h', '1 . nonsense', 'destination'],
  ])('%s %s %s names %s', async (type, name, destination, field) => {
    const { status, body } = await api.ask('POST', path, { body: { name, type, destination } });
    expect([status, body.fields?.[0]?.field]).toEqual([400, field]);
  });

  it('proxied is only for addresses and aliases', async () => {
    const { body } = await api.ask('POST', path, {
      body: { name: 't', type: 'TXT', destination: 'x', proxied: true },
    });
    expect(body.fields[0].field).toBe('proxied');
  });

  it('of a query parameter names it', async () => {
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'offset=-1',
      'count=yes',
      'cursor=x',
      'type=SOA',
      'type=',
      'proxied=1',
      'sort=ttl',
      'name=a..b',
    ]) {
      const { status, body } = await api.ask('GET', `${path}?${query}`);
      expect([query, status, body.fields?.[0]?.field]).toEqual([query, 400, query.split('=')[0]]);
    }
  });

  it('an invented cursor is a 400, whatever it holds', async () => {
    for (const at of ['2026-02-31 00:00:00+00', 'infinity', '0000-01-01 00:00:00+00', 'x', 7, null]) {
      const cursor = Buffer.from(JSON.stringify(['updated_at', false, at, 1])).toString('base64url');
      const { status } = await api.ask('GET', `${path}?sort=updated_at&limit=1&cursor=${cursor}`);
      expect([at, status]).toEqual([at, at === 'infinity' ? 200 : 400]);
    }
  });
});

describe('records at one name', () => {
  const A = { name: 'x', type: 'A', destination: '192.0.2.1' };
  const AAAA = { name: 'x', type: 'AAAA', destination: '2001:db8::1' };
  const TXT = { name: 'x', type: 'TXT', destination: 't' };
  const CNAME = { name: 'x', type: 'CNAME', destination: 'other.example.net' };
  const ANAME = { name: 'x', type: 'ANAME', destination: 'other.example.net' };
  const NS = { name: 'x', type: 'NS', destination: 'ns.example.net' };
  const proxied = (record: object) => ({ ...record, proxied: true });

  it.each([
    ['A beside AAAA', A, AAAA, 200],
    ['A beside TXT', A, TXT, 200],
    ['the same A twice', A, A, 409],
    ['the same TXT twice', TXT, TXT, 409],
    ['CNAME beside A', A, CNAME, 409],
    ['A beside CNAME', CNAME, A, 409],
    ['TXT beside CNAME', CNAME, TXT, 409],
    ['a second CNAME', CNAME, { ...CNAME, destination: 'b.example.net' }, 409],
    ['a proxied CNAME beside TXT', TXT, proxied(CNAME), 200],
    ['a proxied CNAME beside a proxied A', proxied(A), proxied(CNAME), 200],
    ['a proxied A beside an A', A, proxied({ ...A, destination: '192.0.2.2' }), 409],
    ['a proxied A beside an AAAA', AAAA, proxied(A), 409],
    ['ANAME beside A', A, ANAME, 409],
    ['ANAME beside TXT', TXT, ANAME, 200],
    ['ANAME beside CNAME', proxied(CNAME), proxied(ANAME), 409],
    ['NS beside A', A, NS, 409],
    ['A below a delegation', NS, { ...A, name: 'www.x' }, 409],
    ['glue below a delegation', { ...NS, destination: 'ns.x.D' }, { ...A, name: 'ns.x' }, 200],
    ['DS without NS', TXT, { name: 'x', type: 'DS', destination: `1 13 2 ${'0'.repeat(64)}` }, 409],
    ['DS beside NS', NS, { name: 'x', type: 'DS', destination: `1 13 2 ${'0'.repeat(64)}` }, 200],
  ])('%s', async (_, first, second, status) => {
    const path = await freshRecords();
    const full = (record: object) =>
      JSON.parse(JSON.stringify(record).replace('.D"', `.d${domains}.example"`));
    await create(path, full(first));
    const answer = await api.ask('POST', path, { body: full(second) });
    expect([answer.status, answer.body.code]).toEqual([
      status,
      status === 409 ? 'record_conflict' : undefined,
    ]);
  });

  it('a proxied CNAME may stand at the apex', async () => {
    const path = await freshRecords();
    await create(path, { name: '@', type: 'CNAME', destination: 'o.example.net', proxied: true });
  });
});

describe('a change of a record', () => {
  it('touches what it names and nothing else', async () => {
    const path = await freshRecords();
    const record = await create(path, {
      name: 'a',
      type: 'A',
      destination: '192.0.2.1',
      ttl: 600,
      comment: 'c',
      dest_country: 'NL',
      port: 80,
    });
    const { body } = await api.ask('PUT', `${path}${record.id}`, { body: { destination: '192.0.2.2' } });
    const { updated_at: _, ...rest } = record;
    expect(body).toMatchObject({ ...rest, destination: '192.0.2.2', dns_content: '192.0.2.2' });
    const moved = await api.ask('PUT', `${path}${record.id}`, {
      body: { name: 'b', type: 'TXT', destination: 'now text' },
    });
    expect(moved.body).toMatchObject({
      id: record.id,
      name: 'b',
      type: 'TXT',
      ttl: 600,
      comment: 'c',
      port: 80,
    });
    const cleared = await api.ask('PUT', `${path}${record.id}`, {
      body: { comment: '', dest_country: '', host_header: '' },
    });
    expect(Object.keys(cleared.body)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/comment|dest_country|host_header/)]),
    );
  });

  it('takes back what was read, and an equal one makes no change', async () => {
    const path = await freshRecords();
    const record = await create(path, {
      name: '@',
      type: 'MX',
      destination: 'mx.example.net',
      mx_priority: 10,
    });
    const answer = await api.ask('PUT', `${path}${record.id}`, { body: record });
    expect([answer.status, answer.body]).toEqual([200, record]);
    expect(answer.headers['x-change-id']).toBeUndefined();
    expect(Number(answer.headers['x-zone-serial'])).toBe(2);
    const edited = await api.ask('PUT', `${path}${record.id}`, { body: { ...record, mx_priority: 20 } });
    expect(edited.body.mx_priority).toBe(20);
  });

  it('into another type needs what that type needs', async () => {
    const path = await freshRecords();
    const record = await create(path, { name: 'a', type: 'CNAME', destination: 'o.example.net' });
    const refused = await api.ask('PUT', `${path}${record.id}`, { body: { type: 'MX' } });
    expect(refused.body.fields[0].field).toBe('mx_priority');
    const taken = await api.ask('PUT', `${path}${record.id}`, { body: { type: 'MX', mx_priority: 5 } });
    expect(taken.body).toMatchObject({ type: 'MX', mx_priority: 5, destination: 'o.example.net' });
  });

  it('a deleted record is gone', async () => {
    const path = await freshRecords();
    const { id } = await create(path, GOOD);
    const answer = await api.ask('DELETE', `${path}${id}`);
    expect([answer.status, answer.body]).toEqual([200, { message: 'record deleted' }]);
    expect(Number(answer.headers['x-zone-serial'])).toBe(3);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status } = await api.ask(method, `${path}${id}`, method === 'PUT' ? { body: {} } : {});
      expect(status).toBe(404);
    }
  });
});

it('the list is searched in Unicode: owners, destinations, comments, and each page leads to the next', async () => {
  const path = await freshRecords();
  const create = [
    { name: 'Müller', type: 'A', destination: '192.0.2.1' },
    { name: 'a', type: 'CNAME', destination: 'www.müller.example' },
    { name: 'b', type: 'TXT', destination: 'Grüße von MÜLLER' },
    { name: 'c', type: 'A', destination: '192.0.2.1', comment: 'Müllers Mühle' },
    { name: 'd', type: 'A', destination: '192.0.2.1', comment: 'Miller' },
  ];
  expect((await api.ask('PUT', `${path}batch`, { body: { create } })).status).toBe(200);
  for (const search of ['m%C3%BCller', 'M%C3%9CLLER']) {
    const found = await api.ask('GET', `${path}?search=${search}&count=true`);
    expect(names(found)).toEqual(['a', 'b', 'c', 'xn--mller-kva']);
    expect(found.headers['x-total-count']).toBe('4');
  }
  const first = await api.ask('GET', `${path}?search=m%C3%BCller&limit=3`);
  const next = /^<([^>]+)>; rel="next"$/.exec(String(first.headers.link))?.[1] as string;
  expect(names(await api.ask('GET', next))).toEqual(['xn--mller-kva']);
});

describe('the list', () => {
  let path: string;
  beforeAll(async () => {
    path = await freshRecords();
    const body = {
      create: [
        { name: '@', type: 'A', destination: '192.0.2.1' },
        { name: 'www', type: 'A', destination: '192.0.2.2', proxied: true, comment: 'Front Door' },
        { name: 'www', type: 'AAAA', destination: '2001:db8::2', proxied: true },
        { name: 'mail', type: 'MX', destination: 'mx.example.net', mx_priority: 1 },
        { name: 'api', type: 'CNAME', destination: 'Apps.example.net' },
      ],
    };
    expect((await api.ask('PUT', `${path}batch`, { body })).status).toBe(200);
  });

  it("has the service's nameservers, which cannot be edited", async () => {
    const { body } = await api.ask('GET', `${path}?type=NS`);
    expect(body.map((r: Record<string, unknown>) => [r.name, r.destination, r.editable])).toEqual([
      ['@', 'ns1.example.net', false],
      ['@', 'ns2.example.net', false],
    ]);
    const item = `${path}${body[0].id}`;
    expect((await api.ask('GET', item)).body).toEqual(body[0]);
    for (const [method, asked] of [
      ['PUT', { body: { comment: 'mine' } }],
      ['DELETE', {}],
    ] as const) {
      const refused = await api.ask(method, item, asked);
      expect([refused.status, refused.body.code]).toEqual([409, 'record_managed']);
    }
  });

  it.each([
    ['', 7],
    ['name=www', 2],
    ['name=@', 3],
    ['type=A,AAAA', 3],
    ['proxied=true', 2],
    ['proxied=false', 5],
    ['search=front', 1],
    ['search=APPS', 1],
    ['search=ww', 2],
    ['search=%25', 0],
    ['name=www&type=AAAA&proxied=true', 1],
  ])('?%s has %i', async (query, count) => {
    const { status, body, headers } = await api.ask('GET', `${path}?${query}&count=true`);
    expect([status, body.length, headers['x-total-count']]).toEqual([200, count, String(count)]);
  });

  it('takes a full name, with and without the dot', async () => {
    for (const name of [`www.d${domains}.example`, `WWW.d${domains}.example.`]) {
      expect(names(await api.ask('GET', `${path}?name=${name}`))).toEqual(['www', 'www']);
    }
  });

  it.each([
    'name',
    '-name',
    'type',
    '-type',
    'updated_at',
    '-updated_at',
  ])('sorted by %s, in pages of any size, is the whole list once', async (sort) => {
    const whole = (await api.ask('GET', `${path}?sort=${sort}`)).body;
    for (const limit of [1, 3, 7, 1000]) {
      const seen: unknown[] = [];
      for (let url: string | undefined = `${path}?sort=${sort}&limit=${limit}`; url !== undefined; ) {
        const page: Answer = await api.ask('GET', url);
        expect(page.body.length).toBeLessThanOrEqual(limit);
        seen.push(...page.body);
        url = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1];
      }
      expect(seen).toEqual(whole);
    }
    const offset = (await api.ask('GET', `${path}?sort=${sort}&offset=4`)).body;
    expect(offset).toEqual(whole.slice(4));
  });

  it('of ten thousand records is whole', async () => {
    const large = await freshRecords();
    const create = Array.from({ length: 10_000 }, (_, i) => ({
      name: `h${i}`,
      type: 'A',
      destination: `192.0.2.${i % 256}`,
    }));
    expect((await api.ask('PUT', `${large}batch`, { body: { create } })).status).toBe(200);
    const { body } = await api.ask('GET', `${large}?type=A`);
    expect(new Set(body.map((r: { id: number }) => r.id)).size).toBe(10_000);
  });
});

describe('who may', () => {
  it('viewers read, editors write', async () => {
    const path = await freshRecords();
    const { id } = await create(path, GOOD);
    expect((await api.ask('GET', path, { as: 'viewer' })).status).toBe(200);
    for (const [method, url, body] of [
      ['POST', path, GOOD],
      ['PUT', `${path}${id}`, {}],
      ['DELETE', `${path}${id}`, undefined],
      ['PUT', `${path}batch`, {}],
      ['DELETE', `${path}batch`, { ids: [id] }],
    ] as const) {
      expect((await api.ask(method, url, { as: 'viewer', body })).status).toBe(403);
    }
    expect((await api.ask('POST', path, { as: 'editor', body: { ...GOOD, name: 'e' } })).status).toBe(200);
  });

  it("another account's records are a 404 in every operation", async () => {
    const path = await freshRecords();
    const { id } = await create(path, GOOD);
    const own = await freshRecords();
    for (const [as, base] of [
      ['stranger', path],
      ['owner', own],
    ] as const) {
      for (const [method, url, body] of [
        ['GET', `${base}${id}`, undefined],
        ['PUT', `${base}${id}`, { comment: 'x' }],
        ['DELETE', `${base}${id}`, undefined],
        ['PUT', `${base}batch`, { delete: [id] }],
        ['PUT', `${base}batch`, { update: [{ id, comment: 'x' }] }],
        ['DELETE', `${base}batch?ids=${id}`, undefined],
        ['DELETE', `${base}batch`, { ids: [id] }],
      ] as const) {
        expect([method, url, (await api.ask(method, url, { as, body })).status]).toEqual([method, url, 404]);
      }
    }
    for (const [method, url] of [
      ['GET', path],
      ['POST', path],
    ] as const) {
      expect(
        (await api.ask(method, url, { as: 'stranger', ...(method === 'POST' && { body: GOOD }) })).status,
      ).toBe(404);
    }
    expect((await api.ask('GET', `${path}${id}`)).body.comment).toBeUndefined();
  });

  it('what is no id is a 404', async () => {
    const path = await freshRecords();
    for (const id of ['0', '-1', '1.5', 'abc', '01', '99999999999999999999', '%00', 'batch']) {
      expect((await api.ask('GET', `${path}${id}`)).status).toBe(404);
    }
  });

  it('a key narrowed to names and types writes those alone', async () => {
    const path = await freshRecords();
    const domain = `d${domains}.example`;
    const other = await create(path, { ...GOOD, name: 'other' });
    const as = await api.makeKey({ names: [`_acme-challenge.${domain}`], types: ['TXT'] });
    const TXT = { name: '_acme-challenge', type: 'TXT', destination: 'x' };
    const made = await api.ask('POST', path, { as, body: TXT });
    expect(made.status).toBe(200);
    const item = `${path}${made.body.id}`;
    expect((await api.ask('PUT', item, { as, body: { destination: 'y' } })).status).toBe(200);
    for (const [method, url, body] of [
      ['POST', path, { ...TXT, name: 'www' }],
      ['POST', path, { name: '_acme-challenge', type: 'CNAME', destination: 'o.example.net' }],
      ['PUT', item, { name: 'www' }],
      ['PUT', item, { type: 'CNAME', destination: 'o.example.net' }],
      ['PUT', `${path}${other.id}`, { comment: 'x' }],
      ['PUT', `${path}${other.id}`, { name: '_acme-challenge', type: 'TXT', destination: 'z' }],
      ['DELETE', `${path}${other.id}`, undefined],
      ['DELETE', `${path}batch?ids=${other.id}`, undefined],
      ['PUT', `${path}batch`, { delete: [other.id] }],
      ['PUT', `${path}batch`, { update: [{ id: other.id, comment: 'x' }] }],
      ['PUT', `${path}batch`, { create: [TXT, GOOD] }],
      ['PUT', `${path}batch?dry_run=true`, { replace: [{ name: 'www', type: 'TXT', records: [] }] }],
    ] as const) {
      expect([method, url, (await api.ask(method, url, { as, body })).status]).toEqual([method, url, 403]);
    }
    expect((await api.ask('DELETE', item, { as })).status).toBe(200);
    expect(lines(await api.ask('GET', `${path}?type=A,TXT`))).toEqual(['other 300 A 192.0.2.1']);
  });
});

it('a domain whose writes have to wait holds up no other', async () => {
  const busy = await freshRecords();
  const domain = `d${domains}.example.`;
  const other = await freshRecords();
  let release: () => void = () => {};
  const locking = api.db.transaction().execute(async (trx) => {
    await trx.selectFrom('domains').select('id').where('name', '=', domain).forUpdate().execute();
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const writes = Array.from({ length: 40 }, (_, i) =>
    api.ask('POST', busy, {
      body: { ...GOOD, name: `n${i}` },
      headers: i % 2 ? { 'idempotency-key': `n${i}` } : {},
    }),
  );
  // more than the pool has connections
  for (let i = 0; i < 20; i++) expect((await api.ask('GET', other)).status).toBe(200);
  expect((await api.ask('POST', other, { body: GOOD })).status).toBe(200);
  release();
  await locking;
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200));
});

describe('plans', () => {
  it('without an active plan records can be changed and deleted, not added', async () => {
    const path = await freshRecords();
    const { id } = await create(path, GOOD);
    await api.db
      .updateTable('domains')
      .set({ plan_id: null })
      .where('name', '=', `d${domains}.example.`)
      .execute();
    const refused = await api.ask('POST', path, { body: { ...GOOD, name: 'b' } });
    expect([refused.status, refused.body.code]).toEqual([402, 'no_active_plan']);
    const batch = await api.ask('PUT', `${path}batch`, { body: { create: [{ ...GOOD, name: 'b' }] } });
    expect([batch.status, batch.body.items.length]).toEqual([402, 1]);
    expect((await api.ask('PUT', `${path}${id}`, { body: { comment: 'c' } })).status).toBe(200);
    expect((await api.ask('DELETE', `${path}${id}`)).status).toBe(200);
  });

  it('the limit counts what is there after the call', async () => {
    const path = await freshRecords({ planSlug: 'free' });
    const create = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...GOOD, name: `n${from + i}` }));
    expect((await api.ask('PUT', `${path}batch`, { body: { create: create(0, 200) } })).status).toBe(200);
    const over = await api.ask('POST', path, { body: GOOD });
    expect([over.status, over.body.code, over.body.limit]).toEqual([403, 'plan_limit', 200]);
    const { body } = await api.ask('GET', `${path}?type=A&limit=5`);
    const ids = body.map((r: { id: number }) => r.id);
    expect(
      (await api.ask('PUT', `${path}batch`, { body: { create: create(200, 6), delete: ids } })).body,
    ).toMatchObject({
      code: 'plan_limit',
      limit: 200,
    });
    expect(
      (await api.ask('PUT', `${path}batch`, { body: { create: create(200, 5), delete: ids } })).status,
    ).toBe(200);
  });
});

it('a record has the country of its address, unless the call says another, and finds it anew with another address', async () => {
  const countries: Readonly<Record<string, string>> = { '198.51.100.9': 'SE', '2001:db8::9': 'NL' };
  const own = await startTestApi({ countryOf: (address) => countries[address] });
  await own.makeDomain('country.example');
  const path = '/domains/country.example/records/';
  const made = async (body: object) => (await own.ask('POST', path, { body })).body;
  const one = await made({ name: 'a', type: 'A', destination: '198.51.100.9' });
  expect(one.dest_country).toBe('SE');
  const told = await made({
    name: 'b',
    type: 'A',
    destination: '198.51.100.9',
    dest_country: 'IT',
  });
  expect(told.dest_country).toBe('IT');
  const change = async (body: object) =>
    (await own.ask('PUT', `${path}${told.id}`, { body })).body.dest_country;
  expect(await change({ comment: 'x' })).toBe('IT');
  expect(await change({ dest_country: '' })).toBe('SE');
  expect(await change({ type: 'AAAA', destination: '2001:db8::9', proxied: true })).toBe('NL');
  expect(await change({ type: 'CNAME', destination: 'x.example.net' })).toBeUndefined();
  const record = { name: 'c', type: 'A', destination: '198.51.100.9' };
  const imported = await own.ask('POST', `${path}import`, { body: { records: [record] } });
  expect(imported).toMatchObject({ status: 200, body: { created: 1 } });
  expect((await own.ask('GET', `${path}?name=c`)).body).toMatchObject([{ dest_country: 'SE' }]);
  await own.stop();
});
