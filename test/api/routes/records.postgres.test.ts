import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { purgeIdempotency } from '../../../src/store/housekeeping/purge-idempotency.ts';
import { type Answer, sharedTestApi, startTestApi, type TestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
let domains = 0;

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

const lines = ({ body }: Answer): string[] =>
  body.map((r: Record<string, unknown>) => `${r.name} ${r.ttl} ${r.type} ${r.destination}`).sort();

describe('POST records', () => {
  it('responds with the whole record, with its change and serial', async () => {
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

  it('stores every field of the body', async () => {
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
    ['cut', 'cut', 'TXT', '"a" "b"', '"a" "b"'],
    ['alias', 'alias', 'ANAME', '@', undefined],
  ])('stores %s as %s', async (name, stored, type, destination, shown) => {
    const path = await freshRecords();
    const record = await create(path, { name, type, destination });
    expect([record.name, record.destination]).toEqual([stored, shown ?? `d${domains}.example`]);
  });

  it('repeats a response whose stored copy was shortened to make room', async () => {
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
});

const GOOD = { name: 'ok', type: 'A', destination: '192.0.2.1' };
describe('a wrong value', () => {
  let path: string;
  let id: number;
  beforeAll(async () => {
    path = await freshRecords();
    ({ id } = await create(path, { ...GOOD, name: 'there' }));
  });

  const WRONG: [field: string, value: unknown][] = [
    ['ttl', 59],
    ['type', 'SOA'],
    ['nonsense', 1],
    ['destination', '192.0.2.256'],
    ['mx_priority', 10],
  ];
  it.each([
    ...WRONG,
    ['name', undefined],
  ])('of %s in a new record is reported by field', async (field, value) => {
    const { status, body } = await api.ask('POST', path, { body: { ...GOOD, [field]: value } });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields.map((f: { field: string }) => f.field)).toEqual([field]);
  });

  it.each(WRONG)('of %s in a change is reported by field', async (field, value) => {
    const { status, body } = await api.ask('PUT', `${path}${id}`, { body: { [field]: value } });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    expect(body.fields.map((f: { field: string }) => f.field)).toEqual([field]);
  });

  it.each(WRONG)('of %s in a batch is reported by item and field', async (field, value) => {
    const { status, body } = await api.ask('PUT', `${path}batch`, {
      body: { create: [GOOD, { ...GOOD, name: 'b', [field]: value }] },
    });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
    const error = expect.any(String);
    expect(body.items).toEqual([{ list: 'create', index: 1, field, error }]);
    expect(body.fields).toEqual([{ field: `create[1].${field}`, error }]);
  });

  it.each([
    'limit=0',
    'cursor=x',
    'type=SOA',
    'proxied=1',
    'sort=ttl',
    'name=a..b',
  ])('of the query ?%s is reported by parameter', async (query) => {
    const { status, body } = await api.ask('GET', `${path}?${query}`);
    expect([status, body.fields?.[0]?.field]).toEqual([400, query.split('=')[0]]);
  });

  it.each([
    ['2026-02-31 00:00:00+00', 400],
    ['0000-01-01 00:00:00+00', 400],
    ['infinity', 200],
    [7, 400],
    [null, 400],
  ])('%s in a forged cursor is no failure of the service', async (at, expected) => {
    const cursor = Buffer.from(JSON.stringify(['updated_at', false, at, 1])).toString('base64url');
    const { status } = await api.ask('GET', `${path}?sort=updated_at&limit=1&cursor=${cursor}`);
    expect(status).toBe(expected);
  });
});

it('a record that conflicts with another one is refused', async () => {
  const path = await freshRecords();
  await create(path, GOOD);
  const { status, body } = await api.ask('POST', path, {
    body: { ...GOOD, type: 'CNAME', destination: 'o.test' },
  });
  expect([status, body.code]).toEqual([409, 'record_conflict']);
});

describe('a record', () => {
  it('is changed in the fields of the body alone', async () => {
    const path = await freshRecords();
    const settings = { ttl: 600, comment: 'c', dest_country: 'NL', port: 80 };
    const record = await create(path, { name: 'a', type: 'A', destination: '192.0.2.1', ...settings });
    const { body } = await api.ask('PUT', `${path}${record.id}`, { body: { destination: '192.0.2.2' } });
    const { updated_at: _, ...rest } = record;
    expect(body).toMatchObject({ ...rest, destination: '192.0.2.2', dns_content: '192.0.2.2' });
    const moved = await api.ask('PUT', `${path}${record.id}`, {
      body: { name: 'b', type: 'TXT', destination: 'now text' },
    });
    expect(moved.body).toMatchObject({ ...settings, id: record.id, name: 'b', type: 'TXT' });
    const cleared = await api.ask('PUT', `${path}${record.id}`, {
      body: { comment: '', dest_country: '', host_header: '' },
    });
    for (const field of ['comment', 'dest_country', 'host_header'])
      expect(cleared.body).not.toHaveProperty(field);
  });

  it('is not changed by the body that a GET returned', async () => {
    const path = await freshRecords();
    const mx = { name: '@', type: 'MX', destination: 'mx.example.net', mx_priority: 10 };
    const record = await create(path, mx);
    const answer = await api.ask('PUT', `${path}${record.id}`, { body: record });
    expect([answer.status, answer.body]).toEqual([200, record]);
    expect(answer.headers['x-change-id']).toBeUndefined();
    expect(Number(answer.headers['x-zone-serial'])).toBe(2);
    const edited = await api.ask('PUT', `${path}${record.id}`, { body: { ...record, mx_priority: 20 } });
    expect(edited.body.mx_priority).toBe(20);
  });

  it('is not found after its deletion', async () => {
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

describe('the list of records', () => {
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

  it("contains the service's nameservers, which cannot be edited", async () => {
    const { body } = await api.ask('GET', `${path}?type=NS`);
    expect(body.map((r: Record<string, unknown>) => [r.name, r.destination, r.editable])).toEqual([
      ['@', 'ns1.example.net', false],
      ['@', 'ns2.example.net', false],
    ]);
    const item = `${path}${body[0].id}`;
    expect((await api.ask('GET', item)).body).toEqual(body[0]);
    for (const [method, body] of [
      ['PUT', { comment: 'mine' }],
      ['DELETE', undefined],
    ] as const) {
      const refused = await api.ask(method, item, { body });
      expect([refused.status, refused.body.code]).toEqual([409, 'record_managed']);
    }
  });

  it.each([
    ['', 7],
    ['name=www', 2],
    ['name=WWW.DOMAIN.', 2],
    ['type=A,AAAA', 3],
    ['proxied=false', 5],
    ['search=front', 1],
    ['search=%25', 0],
    ['name=www&type=AAAA&proxied=true', 1],
  ])('?%s returns %i records', async (query, count) => {
    const wanted = query.replace('DOMAIN', `d${domains}.example`);
    const { status, body, headers } = await api.ask('GET', `${path}?${wanted}&count=true`);
    expect([status, body.length, headers['x-total-count']]).toEqual([200, count, String(count)]);
  });

  it('contains each record once when it is read in pages', async () => {
    const whole = (await api.ask('GET', `${path}?sort=-type`)).body;
    const seen: unknown[] = [];
    for (let url: string | undefined = `${path}?sort=-type&limit=3`; url !== undefined; ) {
      const page: Answer = await api.ask('GET', url);
      expect(page.body.length).toBeLessThanOrEqual(3);
      seen.push(...page.body);
      url = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1];
    }
    expect(seen).toEqual(whole);
    expect((await api.ask('GET', `${path}?sort=-type&offset=4`)).body).toEqual(whole.slice(4));
  });

  it('is complete without a limit', async () => {
    const large = await freshRecords();
    const create = Array.from({ length: 1100 }, (_, i) => ({
      name: `h${i}`,
      type: 'A',
      destination: `192.0.2.${i % 256}`,
    }));
    expect((await api.ask('PUT', `${large}batch`, { body: { create } })).status).toBe(200);
    const { body } = await api.ask('GET', `${large}?type=A`);
    expect(new Set(body.map((r: { id: number }) => r.id)).size).toBe(1100);
  });
});

describe('a write', () => {
  it('does not find records of another domain', async () => {
    const { id } = await create(await freshRecords(), GOOD);
    const base = await freshRecords();
    for (const [method, url, body] of [
      ['GET', `${base}${id}`, undefined],
      ['PUT', `${base}${id}`, { comment: 'x' }],
      ['DELETE', `${base}${id}`, undefined],
      ['PUT', `${base}batch`, { delete: [id] }],
      ['PUT', `${base}batch`, { update: [{ id, comment: 'x' }] }],
      ['DELETE', `${base}batch?ids=${id}`, undefined],
    ] as const) {
      expect([method, url, (await api.ask(method, url, { body })).status]).toEqual([method, url, 404]);
    }
  });

  it('is limited to the names and types of its API key', async () => {
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

it('writes that wait for a locked domain do not delay other domains', async () => {
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
  it('without an active plan, records can be changed and deleted but not added', async () => {
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

  it('a plan limits the number of records', async () => {
    const path = await freshRecords({ planSlug: 'free' });
    const create = Array.from({ length: 200 }, (_, i) => ({ ...GOOD, name: `n${i}` }));
    expect((await api.ask('PUT', `${path}batch`, { body: { create } })).status).toBe(200);
    const { status, body } = await api.ask('POST', path, { body: GOOD });
    expect([status, body.code, body.limit]).toEqual([403, 'plan_limit', 200]);
  });
});

it('a record has the country of its address unless the request contains another country', async () => {
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
