// Records, individually and in batches: the responses and the errors of each call. Values are covered by test/zone
// and test/api/schemas, the published data by test/store/change.

import { describe, expect, it } from 'vitest';
import { purgeIdempotency } from '../../../src/store/housekeeping/purges.ts';
import { API_TYPES } from '../../../src/zone/records/customer-types.ts';
import { type Answer, readPages, sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
let domains = 0;

/** Creates a domain, and returns the path of its records. */
async function freshRecords(): Promise<string> {
  const name = `d${++domains}.example`;
  await api.makeDomain(name);
  return `/domains/${name}/records/`;
}

async function create(path: string, body: object): Promise<Answer['body']> {
  const answer = await api.ask('POST', path, { body });
  expect(answer.text).not.toContain('"error"');
  return answer.body;
}

const put = (path: string, body: object, query = '') => api.ask('PUT', `${path}batch${query}`, { body });
const A = (name: string, destination = '192.0.2.1') => ({ name, type: 'A', destination });
const error = expect.any(String);

async function lines(path: string): Promise<string[]> {
  const { body } = await api.ask('GET', path);
  return body
    .filter((r: { editable: boolean }) => r.editable)
    .map((r: Record<string, unknown>) => `${r.name} ${r.ttl} ${r.type} ${r.destination}`)
    .sort();
}

const serialOf = async (path: string): Promise<number> =>
  (await api.ask('GET', path.replace('/records/', ''))).body.serial;

async function idsOf(path: string, query = 'type=A'): Promise<number[]> {
  const { body } = await api.ask('GET', `${path}?${query}`);
  return body.map((r: { id: number }) => r.id);
}

describe('a record', () => {
  it('is returned completely when it is created, with its change and serial', async () => {
    const path = await freshRecords();
    const { status, headers, body } = await api.ask('POST', path, { body: A('WWW', '192.0.2.7') });
    expect(status).toBe(200);
    const { warnings, ...record } = body;
    const { id, domain_id, created_at, updated_at, ...rest } = record;
    expect(warnings).toEqual([]);
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
    const change = await api.ask('GET', path.replace('records/', `changes/${headers['x-change-id']}`));
    expect(change.body).toMatchObject({ serial: Number(headers['x-zone-serial']), source: 'api' });
    expect((await api.ask('GET', `${path}${id}`)).body).toEqual(record);
  });

  it('is written with warnings, which a repeated call returns too', async () => {
    const path = await freshRecords();
    const gone = { code: 'TARGET_WITHOUT_ADDRESS', name: '@', type: 'MX' };
    const write = async (method: 'POST' | 'PUT', below: string, body: object) => {
      const ask = () =>
        api.ask(method, `${path}${below}`, { body, headers: { 'idempotency-key': below || 'one' } });
      const [first, again] = [await ask(), await ask()];
      expect([first.status, again.headers['idempotent-replay']]).toEqual([200, 'true']);
      expect(again.body).toEqual(first.body);
      return first.body;
    };
    const mx = { name: '@', type: 'MX', destination: `gone.d${domains}.example`, mx_priority: 10 };
    const created = await write('POST', '', mx);
    expect(created.warnings).toMatchObject([gone]);
    const changed = await api.ask('PUT', `${path}${created.id}`, { body: { ...created, mx_priority: 20 } });
    expect(changed.body.warnings).toMatchObject([gone]);
    const star = { create: [A('*'), { name: 'x.www', type: 'TXT', destination: 't' }, A('\\052')] };
    const shadowed = { code: 'WILDCARD_SHADOWED', name: 'x.www', type: 'TXT' };
    const octal = { code: 'OCTAL_ESCAPE', name: '4', type: 'A' };
    expect((await write('PUT', 'batch', star)).warnings).toMatchObject([octal, shadowed]);
  });

  it('is deleted with warnings about the records that need it', async () => {
    const path = await freshRecords();
    const { id } = await create(path, A('mail'));
    await create(path, { name: '@', type: 'MX', destination: `mail.d${domains}.example`, mx_priority: 10 });
    const { status, body } = await api.ask('DELETE', `${path}${id}`);
    const message = `mail.d${domains}.example. has no address`;
    const warnings = [{ name: '@', type: 'MX', code: 'TARGET_WITHOUT_ADDRESS', message }];
    expect([status, body]).toEqual([200, { message: 'record deleted', warnings }]);
  });

  it('has every field of the body', async () => {
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
    const path = await freshRecords();
    expect(await create(path, fields)).toMatchObject({ ...fields, dns_content: '192.0.2.1, 2001:db8::1' });
    // The test API knows the country of this address.
    expect(await create(path, A('a', '198.51.100.99'))).toMatchObject({ dest_country: 'SE' });
  });

  it('is changed only in the fields of the body', async () => {
    const path = await freshRecords();
    const settings = { ttl: 600, comment: 'c', port: 80 };
    const record = await create(path, { ...A('a'), ...settings, dest_country: 'NL' });
    const update = async (body: object) => (await api.ask('PUT', `${path}${record.id}`, { body })).body;
    const { updated_at: _, dest_country: __, ...rest } = record; // the new address is in another country
    const destination = '192.0.2.2';
    expect(await update({ destination })).toMatchObject({ ...rest, destination, dns_content: destination });
    const moved = { name: 'b', type: 'TXT', destination: 'now text' };
    expect(await update(moved)).toMatchObject({ ...settings, id: record.id, name: 'b', type: 'TXT' });
    const cleared = await update({ comment: '', dest_country: '', host_header: '' });
    for (const field of ['comment', 'dest_country', 'host_header']) expect(cleared).not.toHaveProperty(field);
  });

  it('is not changed by sending the response of a GET back', async () => {
    const path = await freshRecords();
    const mx = { name: '@', type: 'MX', destination: 'mx.example.net', mx_priority: 10 };
    const record = await create(path, mx);
    const serial = String(await serialOf(path));
    const { status, headers, body } = await api.ask('PUT', `${path}${record.id}`, { body: record });
    expect([status, body, headers['x-zone-serial']]).toEqual([200, record, serial]);
    expect(headers['x-change-id']).toBeUndefined();
    const edited = await api.ask('PUT', `${path}${record.id}`, { body: { ...record, mx_priority: 20 } });
    expect(edited.body.mx_priority).toBe(20);
  });

  it('is not found after its deletion, nor in another domain', async () => {
    const path = await freshRecords();
    const { id } = await create(path, A('a'));
    const other = await freshRecords();
    for (const [method, url, body] of [
      ['GET', `${other}${id}`, undefined],
      ['PUT', `${other}${id}`, { comment: 'x' }],
      ['DELETE', `${other}${id}`, undefined],
      ['PUT', `${other}batch`, { delete: [id] }],
      ['PUT', `${other}batch`, { update: [{ id, comment: 'x' }] }],
      ['DELETE', `${other}batch?ids=${id}`, undefined],
    ] as const)
      expect([method, url, (await api.ask(method, url, { body })).status]).toEqual([method, url, 404]);
    const before = await serialOf(path);
    const deleted = await api.ask('DELETE', `${path}${id}`);
    const serial = await serialOf(path);
    expect(serial).toBeGreaterThan(before);
    expect(deleted).toMatchObject({
      status: 200,
      body: { message: 'record deleted' },
      headers: { 'x-zone-serial': String(serial) },
    });
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await api.ask(method, `${path}${id}`, method === 'PUT' ? { body: {} } : {})).status).toBe(404);
  });

  it('may have any of the types', async () => {
    const texts = {
      A: '192.0.2.1',
      AAAA: '2001:db8::1',
      CNAME: 'www.example.net',
      ANAME: 'www.example.net',
      NS: 'ns.example.net',
      TXT: 'text',
      MX: 'mail.example.net',
      SRV: '0 5 5060 sip.example.net',
      PTR: 'host.example.net',
      CAA: '0 issue "ca.example"',
      TLSA: '3 1 1 ABCD',
      SSHFP: `1 1 ${'00'.repeat(20)}`,
      URI: '10 1 "https://example.net/"',
      HTTPS: '1 . alpn=h2',
      SVCB: '1 svc.example.net. port=53',
      NAPTR: '100 10 "u" "E2U+sip" "!^.*$!sip:a@b!" .',
      LOC: '52 22 23.000 N 4 53 32.000 E -2.00m 1m 10000m 10m',
      DNAME: 'new.example.net',
      SMIMEA: '3 0 1 ABCD',
      OPENPGPKEY: 'mQENBFVHm5sB',
      CERT: '3 0 0 mQENBFVHm5sB',
      HINFO: '"ARM64" "LINUX"',
      DHCID: 'AAIBY2/AuCccgoJb',
      TYPE65280: '\\# 3 0A0B0C',
      TYPE10: '\\# 0',
    };
    expect(Object.keys(texts).sort()).toEqual(
      [...API_TYPES.filter((type) => type !== 'DS'), 'TYPE65280', 'TYPE10'].sort(),
    );
    const path = await freshRecords();
    const create = Object.entries(texts).map(([type, destination]) => ({
      ...{ name: `n-${type.toLowerCase()}`, type, destination },
      ...(type === 'MX' && { mx_priority: 10 }),
    }));
    expect((await put(path, { create })).body.created).toBe(create.length);
    const { body: listed } = await api.ask('GET', path);
    for (const record of create) expect(listed).toContainEqual(expect.objectContaining(record));
    const exported = await api.ask('GET', `${path}export?view=origin`);
    const headers = { 'accept-encoding': 'gzip, identity;q=0' };
    const zipped = await api.ask('GET', `${path}export?view=origin`, { headers });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const { headers: whole } = await api.ask('GET', '/whoami', { headers });
    expect([exported.headers.vary, whole.vary, whole['content-encoding']]).toEqual([
      'Accept-Encoding',
      undefined,
      undefined,
    ]);
    const parsed = await api.ask('POST', `${path}import/parse`, { body: { zone_file: exported.text } });
    expect(parsed.body).toMatchObject({ errors: [], skipped: [] });
    const other = await freshRecords();
    const imported = await api.ask('POST', `${other}import`, { body: { records: parsed.body.records } });
    expect(imported.body).toMatchObject({ created: Object.keys(texts).length, failed: [] });
    expect(await lines(other)).toEqual(await lines(path));
  });
});

describe('an error', () => {
  it.each([
    ['ttl', 59],
    ['destination', '192.0.2.256'],
    ['mx_priority', 10],
  ])('in %s is reported by field, and in a batch by item', async (field, value) => {
    const path = await freshRecords();
    const { id } = await create(path, A('there'));
    const bad = { ...A('b'), [field]: value };
    for (const [method, url, body, name] of [
      ['POST', path, bad, field],
      ['PUT', `${path}${id}`, { [field]: value }, field],
      ['PUT', `${path}batch`, { create: [A('ok'), bad] }, `create[1].${field}`],
    ] as const) {
      const answer = await api.ask(method, url, { body });
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
      expect(answer.body.fields).toEqual([{ field: name, error }]);
      expect(answer.body.items).toEqual(
        url.endsWith('batch') ? [{ list: 'create', index: 1, field, error }] : undefined,
      );
    }
  });

  it('of one item is reported by list and index, and the batch writes nothing', async () => {
    const path = await freshRecords();
    await create(path, A('a'));
    const before = await lines(path);
    const [a] = await idsOf(path);
    const [ns] = await idsOf(path, 'type=NS&limit=1');
    const x = A('x', '192.0.2.9');
    for (const [body, status, list, index] of [
      [{ create: [x, { ...A('a', 'o.example.net'), type: 'CNAME' }] }, 409, 'create', 1],
      [{ create: [x], delete: [999_999] }, 404, 'delete', 0],
      [{ create: [x], update: [{ id: 999_999, ttl: 60 }] }, 404, 'update', 0],
      [{ create: [x], delete: [a, a] }, 400, 'delete', 1],
      [{ create: [x], delete: [ns] }, 409, 'delete', 0],
      [{ create: Array.from({ length: 30 }, () => A('x', 'nonsense')) }, 400, 'create', 0],
    ] as const) {
      const answer = await put(path, body);
      expect([answer.status, answer.body.items[0]]).toMatchObject([status, { list, index, error }]);
      expect(answer.body.items.length).toBeLessThanOrEqual(20);
      expect(answer.headers['x-change-id']).toBeUndefined();
    }
    expect(await lines(path)).toEqual(before);
    const conflict = await api.ask('POST', path, { body: { ...A('a', 'o.test'), type: 'CNAME' } });
    expect([conflict.status, conflict.body.code]).toEqual([409, 'record_conflict']);
  });

  it('responds 403 to an API key that may not write one of the records', async () => {
    const path = await freshRecords();
    const other = await create(path, A('other'));
    const as = await api.makeKey({ names: [`_acme-challenge.d${domains}.example`], types: ['TXT'] });
    const TXT = { name: '_acme-challenge', type: 'TXT', destination: 'x' };
    const made = await api.ask('POST', path, { as, body: TXT });
    const item = `${path}${made.body.id}`;
    expect((await api.ask('PUT', item, { as, body: { destination: 'y' } })).status).toBe(200);
    for (const [method, url, body] of [
      ['POST', path, { ...TXT, name: 'www' }],
      ['PUT', item, { type: 'CNAME', destination: 'o.example.net' }],
      ['PUT', `${path}${other.id}`, { name: '_acme-challenge', type: 'TXT', destination: 'z' }],
      ['DELETE', `${path}${other.id}`, undefined],
      ['DELETE', `${path}batch?ids=${other.id}`, undefined],
      ['PUT', `${path}batch`, { update: [{ id: other.id, comment: 'x' }] }],
      ['PUT', `${path}batch`, { create: [TXT, A('a')] }],
      ['PUT', `${path}batch?dry_run=true`, { replace: [{ name: 'www', type: 'TXT', records: [] }] }],
    ] as const)
      expect([method, url, (await api.ask(method, url, { as, body })).status]).toEqual([method, url, 403]);
    expect((await api.ask('DELETE', item, { as })).status).toBe(200);
    expect(await lines(path)).toEqual(['other 300 A 192.0.2.1']);
  });
});

describe('the list of records', () => {
  const freshList = async () => {
    const path = await freshRecords();
    const www = { name: 'www', proxied: true };
    const create = [
      A('@'),
      { ...A('www', '192.0.2.2'), ...www, comment: 'Front Door' },
      { ...www, type: 'AAAA', destination: '2001:db8::2' },
      { name: 'mail', type: 'MX', destination: 'mx.example.net', mx_priority: 1 },
      { name: 'api', type: 'CNAME', destination: 'Apps.example.net' },
    ];
    expect((await put(path, { create })).status).toBe(200);
    return path;
  };

  it("contains the service's nameservers, which cannot be edited", async () => {
    const path = await freshList();
    const { body } = await api.ask('GET', `${path}?type=NS`);
    const ns = { name: '@', type: 'NS', editable: false };
    expect(body).toMatchObject([
      { ...ns, destination: 'ns1.example.net' },
      { ...ns, destination: 'ns2.example.net' },
    ]);
    const item = `${path}${body[0].id}`;
    expect((await api.ask('GET', item)).body).toEqual(body[0]);
    for (const asked of [['PUT', { comment: 'mine' }] as const, ['DELETE', undefined] as const]) {
      const refused = await api.ask(asked[0], item, { body: asked[1] });
      expect([refused.status, refused.body.code]).toEqual([409, 'record_managed']);
    }
  });

  it('is filtered, counted and read in pages', async () => {
    const path = await freshList();
    for (const [query, count] of [
      ['', 7],
      [`name=WWW.d${domains}.example.`, 2],
      ['type=A,AAAA', 3],
      ['proxied=false', 5],
      ['search=front', 1],
      ['name=www&type=AAAA&proxied=true', 1],
    ] as const) {
      const { status, body, headers } = await api.ask('GET', `${path}?${query}&count=true`);
      expect([status, body.length, headers['x-total-count']]).toEqual([200, count, String(count)]);
    }
    const whole = (await api.ask('GET', `${path}?sort=-type`)).body;
    const pages = await readPages(api, `${path}?sort=-type&limit=3`);
    expect(pages.map(({ body }) => body.length)).toEqual([3, 3, 1]);
    expect(pages.flatMap(({ body }) => body)).toEqual(whole);
    expect((await api.ask('GET', `${path}?sort=-type&offset=4`)).body).toEqual(whole.slice(4));
  });

  it('responds 400 to a wrong parameter, and to a forged cursor', async () => {
    const path = await freshRecords();
    for (const query of ['limit=0', 'cursor=x', 'type=SOA', 'proxied=1', 'sort=ttl', 'name=a..b']) {
      const { status, body } = await api.ask('GET', `${path}?${query}`);
      expect([query, status, body.fields?.[0]?.field]).toEqual([query, 400, query.split('=')[0]]);
    }
    for (const [at, expected] of Object.entries({ '2026-02-31 00:00:00+00': 400, infinity: 200 })) {
      const cursor = Buffer.from(JSON.stringify(['updated_at', false, at, 1])).toString('base64url');
      const { status } = await api.ask('GET', `${path}?sort=updated_at&limit=1&cursor=${cursor}`);
      expect([at, status]).toEqual([at, expected]);
    }
  });
});

describe('PUT batch', () => {
  it('applies all items in one change', async () => {
    const path = await freshRecords();
    await put(path, { create: [A('gone'), A('kept', '192.0.2.2'), A('set', '192.0.2.3')] });
    const [gone] = await idsOf(path, 'name=gone');
    const [kept] = await idsOf(path, 'name=kept');
    const records = [{ destination: '192.0.2.8' }, { destination: '192.0.2.9' }];
    const { status, headers, body } = await put(path, {
      create: [A('new', '192.0.2.4'), A('new', '192.0.2.5')],
      update: [{ id: kept, ttl: 900 }],
      delete: [gone],
      replace: [{ name: 'set', type: 'A', ttl: 60, records }],
    });
    const changeId = Number(headers['x-change-id']);
    expect([status, headers['x-zone-serial']]).toEqual([200, String(body.serial)]);
    expect(body).toEqual({
      created: 2,
      updated: 1,
      deleted: 1,
      replaced: 1,
      change_id: changeId,
      serial: await serialOf(path),
      warnings: [],
    });
    expect(await lines(path)).toEqual([
      'kept 900 A 192.0.2.2',
      'new 300 A 192.0.2.4',
      'new 300 A 192.0.2.5',
      'set 60 A 192.0.2.8',
      'set 60 A 192.0.2.9',
    ]);
    const [change] = (await api.ask('GET', path.replace('records/', 'changes'))).body;
    expect([change.id, change.records.length]).toEqual([changeId, 6]);
  });

  it('writes nothing in a dry run or without items', async () => {
    const path = await freshRecords();
    const body = { create: [A('x')] };
    const none = {
      created: 0,
      updated: 0,
      deleted: 0,
      replaced: 0,
      serial: await serialOf(path),
      warnings: [],
    };
    for (const empty of [{}, { create: [], update: [], delete: [], replace: [] }])
      expect((await put(path, empty)).body).toEqual(none);
    const tried = await put(path, body, '?dry_run=true');
    expect([tried.status, tried.body]).toEqual([200, { ...none, created: 1 }]);
    expect(tried.headers['x-change-id']).toBeUndefined();
    expect((await put(path, { delete: [999_999] }, '?dry_run=true')).status).toBe(404);
    for (const wrong of ['?dry_run=maybe', '?dryrun=true'])
      expect((await put(path, body, wrong)).status).toBe(400);
    expect(await lines(path)).toEqual([]);
    expect((await put(path, body, '?dry_run=false')).body.change_id).toEqual(expect.any(Number));
  });
});

describe('DELETE batch', () => {
  it('accepts ids in the query or in the body', async () => {
    const path = await freshRecords();
    await put(path, { create: ['a', 'b', 'c', 'd'].map((name) => A(name)) });
    const [a, b, c, d] = await idsOf(path);
    const first = await api.ask('DELETE', `${path}batch?ids=${a},${b}`);
    expect(first).toMatchObject({
      status: 200,
      body: { deleted: 2, created: 0, serial: await serialOf(path), message: '2 records deleted' },
    });
    expect(first.body.change_id).toBe(Number(first.headers['x-change-id']));
    const dry = await api.ask('DELETE', `${path}batch?dry_run=true`, { body: { ids: [c] } });
    expect([dry.status, dry.body.deleted, dry.body.change_id]).toEqual([200, 1, undefined]);
    const second = await api.ask('DELETE', `${path}batch`, { body: { ids: [c] } });
    expect([second.status, second.body.message]).toEqual([200, 'record deleted']);
    expect(await idsOf(path)).toEqual([d]);
  });

  it('deletes nothing unless every id exists and is listed once', async () => {
    const path = await freshRecords();
    const { id: a } = await create(path, A('a'));
    const missing = await api.ask('DELETE', `${path}batch?ids=${a},999999`);
    const absent = { list: 'delete', index: 1, field: 'id', error: 'the domain has no record 999999' };
    expect([missing.status, missing.body.items]).toEqual([404, [absent]]);
    const twice = await api.ask('DELETE', `${path}batch?ids=${a},${a}`);
    expect([twice.status, twice.body.fields]).toEqual([400, [{ field: 'ids[1]', error }]]);
    expect(twice.body.items).toEqual([{ list: 'delete', index: 1, error }]);
    expect(await idsOf(path)).toEqual([a]);
  });

  it.each([
    ['', undefined, 'ids'],
    ['?ids=', undefined, 'ids[0]'],
    ['?ids=1,0', undefined, 'ids[1]'],
    ['?ids=1,,2', undefined, 'ids[1]'],
    ['?ids=1', { ids: [1] }, 'ids'],
    ['', { ids: ['1'] }, 'ids[0]'],
  ])('with %s %j is refused because of %s', async (query, body, field) => {
    const answer = await api.ask('DELETE', `${await freshRecords()}batch${query}`, { body });
    expect([answer.status, answer.body.code, answer.body.fields[0].field]).toEqual([
      400,
      'validation_failed',
      field,
    ]);
    const [, index] = /\[(\d)\]/.exec(field) ?? [];
    const items = index === undefined ? undefined : [{ list: 'delete', index: Number(index), error }];
    expect(answer.body.items).toEqual(items);
  });
});

it('a response is repeated for its Idempotency-Key, even if its stored copy was shortened to save space', async () => {
  const path = await freshRecords();
  const { id } = await create(path, A('gone'));
  const answers = async () => {
    const all: Answer[] = [];
    for (const [method, end, body] of [
      ['POST', '', A('r')],
      ['PUT', 'batch', { create: [A('s')], update: [{ id, ttl: 600 }] }],
      ['DELETE', `batch?ids=${id}`, undefined],
    ] as const)
      all.push(await api.ask(method, path + end, { body, headers: { 'idempotency-key': `${method} room` } }));
    return all;
  };
  const [first, second, third] = await answers();
  const again = await answers();
  expect(again.map(({ text }) => text)).toEqual([first?.text, second?.text, third?.text]);
  await api.query`update idempotency_octets set octets = 100000001`;
  expect((await purgeIdempotency(api.database.db)).shrunk).toBeGreaterThan(1);
  const shortened = await answers();
  expect(shortened.slice(0, 2).map(({ text }) => text)).toEqual([first?.text, second?.text]);
  for (const { headers } of [...again, ...shortened]) expect(headers['idempotent-replay']).toBe('true');
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
    api.ask('POST', busy, { body: A(`n${i}`), headers: i % 2 ? { 'idempotency-key': `n${i}` } : {} }),
  );
  // more than the pool's connections
  for (let i = 0; i < 20; i++) expect((await api.ask('GET', other)).status).toBe(200);
  expect((await api.ask('POST', other, { body: A('a') })).status).toBe(200);
  release();
  await locking;
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200));
});
