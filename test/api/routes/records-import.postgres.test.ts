// Importing records, parsing zone files, and exporting. test/zone/import covers how items are merged and files are
// parsed.

import { beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { checkPublished } from '../../../src/store/housekeeping/check-published.ts';
import { findFaults } from '../../../src/zone/signing/check-signed.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { enabled } from '../../support/database/signed-zones.ts';
import { PROVIDER_FORMS, providerZone } from '../../support/zone/provider-forms.ts';

const api = sharedTestApi();
let domains = 0;

async function freshDomain() {
  const domain = `i${++domains}.example`;
  const { id } = await api.makeDomain(domain);
  return { domain, path: `/domains/${domain}/records/`, id };
}

const load = (path: string, records: unknown, query = '', key?: string) =>
  api.ask('POST', `${path}import${query}`, {
    body: { records },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });

// biome-ignore lint/suspicious/noExplicitAny: tests access any member
async function list(path: string): Promise<any[]> {
  const { body } = await api.ask('GET', path);
  return body.filter((r: { editable: boolean }) => r.editable);
}

const lines = async (path: string) =>
  (await list(path)).map((r) => `${r.name} ${r.ttl} ${r.type} ${r.destination}`).sort();

const item = (name: string, type: string, destination: string, more = {}) => ({
  name,
  type,
  destination,
  ...more,
});
const A = (name: string, destination = '192.0.2.1', more = {}) => item(name, 'A', destination, more);
interface ParsedItem {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly destination: string;
  readonly mx_priority?: number;
}

const indexes = (items: { index: number }[]) => items.map(({ index }) => index);

describe('POST import', () => {
  it('imports valid items in one change, and reports the others', async () => {
    const { path, domain, id } = await freshDomain();
    const records = [
      A('www'),
      A('www', '192.0.2'),
      item('@', 'MX', 'mail.example.net', { mx_priority: 10, ttl: 1 }),
      item('@', 'NS', 'ns.example.net'),
      item('t', 'TXT', 'x', { comment: 'y'.repeat(1025) }),
      A('late', '192.0.2.9', { ttl: 999_999_999, timeout: 0 }),
      A('late', '192.0.2.8', { ttl: 999_999_999 }),
      A('n'.repeat(2000)),
      A('b\ud800'),
      item('www', 'CNAME', 'x.example.net'),
    ];
    // The response is stored, which is not possible for a lone surrogate.
    const { status, headers, body } = await load(path, records, '', `import-${domains}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ created: 3, overwritten: 0, removed: 0 });
    expect(headers).toMatchObject({ 'x-change-id': `${body.change_id}`, 'x-zone-serial': `${body.serial}` });
    expect(indexes(body.failed)).toEqual([1, 3, 4, 5, 7, 8, 9]);
    expect(body.failed[0]).toEqual({ index: 1, name: 'www', type: 'A', error: expect.any(String) });
    expect(body.failed[4].name).toHaveLength(301);
    expect(body.failed[5].name).toBe('b\ufffd');
    expect(await lines(path)).toEqual([
      '@ 60 MX mail.example.net',
      'late 86400 A 192.0.2.8',
      'www 300 A 192.0.2.1',
    ]);
    const [change] = (await api.ask('GET', `/domains/${domain}/changes`)).body;
    expect(change).toMatchObject({ id: body.change_id, serial: body.serial, source: 'import' });
    expect(change.records).toHaveLength(3);
    expect(await checkPublished(api.db, id)).toEqual([]);
  });

  it('returns the id of each record that it created or overwrote', async () => {
    const { path } = await freshDomain();
    const given = [A('a'), item('@', 'MX', 'mx.example.net', { mx_priority: 30 })];
    const { serial } = (await load(path, given)).body;
    const [a, mx] = await list(path);
    const records = [
      A('new'),
      A('a', '192.0.2.2'),
      A('bad', 'x'),
      item('@', 'MX', 'mx.example.net'),
      item('t', 'TXT', 'x'),
    ];
    const tried = (await load(path, records, '?dry_run=true')).body;
    expect(tried).toMatchObject({ created: 2, overwritten: 2, failed: [{ index: 2 }], serial });
    expect(tried).not.toHaveProperty('records');
    expect(await list(path)).toEqual([a, mx]);
    const { body } = await load(path, records, '', `ids-${domains}`);
    expect(body).toMatchObject({ created: 2, overwritten: 2, failed: [{ index: 2 }] });
    expect(indexes(body.records)).toEqual([0, 1, 3, 4]);
    for (const { index, id } of body.records)
      expect((await api.ask('GET', `${path}${id}`)).body).toMatchObject(records[index] as object);
    expect([body.records[1].id, body.records[2].id]).toEqual([a.id, mx.id]);
    expect((await api.ask('GET', `${path}${mx.id}`)).body.mx_priority).toBe(30);
  });

  it('makes no change without a valid item', async () => {
    const { path, domain } = await freshDomain();
    const { serial } = (await api.ask('GET', `/domains/${domain}`)).body;
    const { status, headers, body } = await load(path, [A('www', 'x')]);
    const none = { created: 0, overwritten: 0, removed: 0, serial, failed: [{ index: 0 }] };
    expect([status, body]).toMatchObject([200, none]);
    expect([body.change_id, headers['x-change-id']]).toEqual([undefined, undefined]);
  });

  it('repeats a large response of which only a part is stored', async () => {
    const { path } = await freshDomain();
    await load(path, [item('taken', 'CNAME', 'elsewhere.example.net')]);
    const bad = Array.from({ length: 500 }, (_, i) => [
      A(`w${i}`, '192.0.2'),
      A('taken', `192.0.2.${i % 250}`),
      A(`w${i}`),
    ]).flat();
    const key = `large-${domains}`;
    const first = await load(path, bad, '', key);
    expect(first.body).toMatchObject({ created: 500, overwritten: 0 });
    expect(first.body.failed).toHaveLength(1000);
    expect(first.text.length).toBeGreaterThan(65_536);
    const rows = await api.query<{ octets: number; change_id: number }>`
      select octet_length(response::text) as octets, change_id from idempotency_keys where key = ${key}`;
    expect(rows[0]?.octets).toBeLessThan(65_536);
    expect(rows[0]?.change_id).toBe(first.body.change_id);
    await load(path, [A('later')]); // later records do not matter
    const again = await load(path, bad, '', key);
    expect(again.headers).toMatchObject({
      'idempotent-replay': 'true',
      'x-change-id': first.headers['x-change-id'],
    });
    expect(again.text).toBe(first.text);
    expect((await load(path, bad.slice(1), '', key)).status).toBe(422);
    expect(await list(path)).toHaveLength(502);
  });

  it('returns the change if its response can no longer be repeated', async () => {
    const { path } = await freshDomain();
    const key = `lost-${domains}`;
    const first = await load(path, [A('x')], '', key);
    await api.query`
      update idempotency_keys set digest = sha256('another'), octets = 0,
        response = json_build_object('status', 200, 'headers', response->'headers')
      where key = ${key}`;
    const again = await load(path, [A('x')], '', key);
    expect([again.status, again.headers['idempotent-replay']]).toEqual([200, 'true']);
    expect(again.headers['x-change-id']).toBe(first.headers['x-change-id']);
    expect(again.body).toEqual({
      message: 'this call was carried out; its response is no longer stored',
      change_id: first.body.change_id,
    });
    expect(await list(path)).toHaveLength(1);
  });

  it('is refused completely for an item of the wrong form, and with a key that may not write one of the items', async () => {
    const { path, domain } = await freshDomain();
    const wrong = await load(path, [A('a'), { name: 'a', type: 'A' }]);
    expect([wrong.status, wrong.body.fields[0].field]).toEqual([400, 'records[1].destination']);
    const as = await api.makeKey({ names: [`a.${domain}`], types: ['A'] });
    const status = async (...records: object[]) =>
      (await api.ask('POST', `${path}import`, { as, body: { records } })).status;
    expect(await status(A('a'), A('b'))).toBe(403);
    expect(await status(A('a'), item('a', 'AAAA', 'x'))).toBe(403);
    expect(await status(A('a'))).toBe(200);
  });
});

describe('POST import/parse', () => {
  const PATH = '/domains/parsed.example/records/import/parse';
  const TEXT = 'www 60 A 192.0.2.1 ; zonefleet proxied=true\nbad A 1.2.3\n@ SOA a b 1 2 3 4 5\n\tMX 10 mail';
  const PARSED = {
    records: [
      { name: 'www', type: 'A', destination: '192.0.2.1', ttl: 60, proxied: true },
      { name: '@', type: 'MX', destination: 'mail.parsed.example', mx_priority: 10, ttl: 60 },
    ],
    errors: [{ line: 2, column: 7, error: expect.any(String) }],
    skipped: [{ line: 3, name: '@', type: 'SOA', reason: expect.any(String) }],
    warnings: [
      {
        line: 4,
        name: '@',
        type: 'MX',
        code: 'TARGET_WITHOUT_ADDRESS',
        message: 'mail.parsed.example. has no address',
      },
    ],
  };
  const text = (body: string | Buffer, type = 'text/plain') =>
    api.ask('POST', PATH, { body, headers: { 'content-type': type } });

  beforeAll(async () => {
    const { id } = await api.makeDomain('parsed.example', { planSlug: null });
    await changeStatus(api.db, { domainId: id, event: 'disable', by: { kind: 'cli' }, source: 'test' });
  });

  it('parses a zone file and writes nothing, without a plan, for a disabled domain and with a restricted key', async () => {
    const as = await api.makeKey({ names: ['x.parsed.example'] });
    const asked = { as, body: { zone_file: TEXT }, headers: { 'idempotency-key': 'parse' } };
    for (const _ of [1, 2]) {
      const { status, body, headers } = await api.ask('POST', PATH, asked);
      expect([status, body, headers['idempotent-replay']]).toEqual([200, PARSED, undefined]);
    }
    const rows = await api.query`select from idempotency_keys where key = 'parse'`;
    expect([rows, await list('/domains/parsed.example/records/')]).toEqual([[], []]);
  });

  it('warns of conflicts within the file, but not of a DS at a name that exists in the domain', async () => {
    const { path } = await freshDomain();
    await load(path, [item('kid', 'NS', 'ns.example.net')]);
    const digest = `1 13 2 ${'0'.repeat(64)}`;
    const zone = [`kid DS ${digest}`, `new DS ${digest}`, '@ CNAME x.example.net.', 'a TXT x', 'a CNAME b'];
    const parsed = await api.ask('POST', `${path}import/parse`, { body: { zone_file: zone.join('\n') } });
    const shown = (parsed.body.warnings as Record<string, unknown>[]).map(
      ({ line, name, type, code }) => `${line} ${name} ${type} ${code}`,
    );
    expect(shown).toEqual(['2 new DS', '3 @ CNAME', '5 a CNAME'].map((each) => `${each} RECORD_CONFLICT`));
    const { failed } = (await load(path, parsed.body.records)).body as {
      failed: { name: string; type: string; error: string }[];
    };
    expect(failed.map(({ name, type }) => `${name} ${type}`)).toEqual(['new DS', '@ CNAME', 'a CNAME']);
  });

  it('accepts text, also in UTF-16, and reports invalid UTF-8 in records only', async () => {
    for (const type of ['text/plain; charset=utf-8', 'text/dns', 'Text/Plain;charset=iso-8859-1'])
      expect(await text(TEXT, type)).toMatchObject({ status: 200, body: PARSED });
    const { body } = await text(Buffer.from('a A 192.0.2.1 ; M\xfcller\nb TXT "M\xfcller"', 'latin1'));
    expect(body).toMatchObject({ records: [{ name: 'a' }], errors: [{ line: 2, column: 7 }] });
    const wide = Buffer.from(TEXT, 'utf16le');
    expect(await text(wide)).toMatchObject({ status: 200, body: PARSED });
    const twice = await api.ask('POST', PATH, { body: { zone_file: wide.toString('latin1') } });
    expect(twice.body.errors).toMatchObject([{ error: 'the text is UTF-16; save the file as UTF-8' }]);
    const fields = [{ field: 'zone_file', error: 'the zone file is empty' }];
    expect(await text('')).toMatchObject({ status: 400, body: { fields } });
    // No other operation accepts text.
    const asked = { body: TEXT, headers: { 'content-type': 'text/plain' } };
    expect((await api.ask('POST', '/domains/i1.example/records/import', asked)).status).toBe(400);
  });

  it('parses Route 53 JSON, as text or in JSON, into items for an import', async () => {
    const { path, domain } = await freshDomain();
    const form = PROVIDER_FORMS.find(({ provider }) => provider === 'Route 53');
    const body = form?.write(providerZone(domain, 500));
    const headers = { 'content-type': 'text/plain' };
    const parsed = await api.ask('POST', `${path}import/parse`, { body, headers });
    expect(parsed).toMatchObject({ status: 200, body: { errors: [], warnings: [] } });
    expect(parsed.body.skipped).toHaveLength(form?.others ?? 0);
    const again = await api.ask('POST', `${path}import/parse`, { body: { zone_file: body } });
    expect(again).toMatchObject({ status: 200, body: parsed.body });
    const imported = await load(path, parsed.body.records);
    expect(imported.body).toMatchObject({ created: 500, overwritten: 0, removed: 0, failed: [] });
    const shown = ({ name, type, ttl, destination, mx_priority }: ParsedItem) =>
      [name, type, ttl, destination, mx_priority].join(' ');
    expect((await list(path)).map(shown).sort()).toEqual(parsed.body.records.map(shown).sort());
  });

  it.each([
    [{}, 'zone_file'],
    [{ zone_file: '' }, 'zone_file'],
    [{ zone_file: 'a', more: 1 }, 'more'],
    [undefined, 'body'],
  ])('refuses the body %j', async (body, field) => {
    expect(await api.ask('POST', PATH, { body })).toMatchObject({
      status: 400,
      body: { fields: [{ field }] },
    });
  });
});

describe('GET export', () => {
  const PATH = '/domains/out.example/records/';
  let domainId: number;
  beforeAll(async () => {
    domainId = (await api.makeDomain('out.example')).id;
    const { body } = await load(PATH, [
      A('www', '198.51.100.7', { proxied: true, port: 8443, comment: 'a "b";\nc' }),
      item('@', 'ANAME', 'lb.example.net'),
      item('sub', 'NS', 'ns.sub.out.example'),
      A('ns.sub', '192.0.2.53'),
    ]);
    expect(body.created).toBe(4);
  });
  const view = async (name: string) => {
    const { status, headers, text, body } = await api.ask('GET', `${PATH}export${name && `?view=${name}`}`);
    const { 'content-type': type, 'content-disposition': disposition } = headers;
    return { status, text, code: body?.code, headers: [type, disposition] };
  };
  const headersOf = (file: string) => ['text/dns; charset=utf-8', `attachment; filename="${file}"`];

  it('returns a zone file with origins, and settings in comments, which can be imported unchanged', async () => {
    const { status, headers, text } = await view('');
    expect([status, headers]).toEqual([200, headersOf('out.example.origin.zone')]);
    expect(text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      '$ORIGIN out.example.',
      '@ 300 IN ANAME lb.example.net.',
      'sub 300 IN NS ns.sub.out.example.',
      'ns.sub 300 IN A 192.0.2.53',
      'www 300 IN A 198.51.100.7 ; zonefleet proxied=true port=8443 comment="a \\"b\\";\\nc"',
      '',
    ]);
    expect((await view('origin')).text).toBe(text);
    const moved = text.replaceAll('out.example', 'in.example');
    await api.makeDomain('in.example');
    const into = '/domains/in.example/records/';
    const parsed = await api.ask('POST', `${into}import/parse`, {
      body: moved,
      headers: { 'content-type': 'text/dns' },
    });
    expect(parsed.body).toMatchObject({ errors: [], skipped: [] });
    expect((await load(into, parsed.body.records)).body).toMatchObject({ created: 4, failed: [] });
    expect((await api.ask('GET', `${into}export`)).text).toBe(moved);
  });

  it('returns the published zone file, with keys, signatures and denial records only in the view `signed`', async () => {
    expect(await view('signed')).toMatchObject({ status: 400, code: 'wrong_state' });
    const { status, headers, text: before } = await view('published');
    expect([status, headers]).toEqual([200, headersOf('out.example.zone')]);
    expect(before).toMatch(/^\$ORIGIN out\.example\.\n\$TTL \d+\n@ +3600 IN SOA /);
    expect(before).toMatch(/^www +IN A 192\.0\.2\.1$/m);
    expect(before).not.toMatch(/ANAME|zonefleet proxied|198\.51\.100\.7/m);
    await enabled(api.database.db, { domainId });
    const signed = await view('signed');
    expect([signed.status, signed.headers]).toEqual([200, headersOf('out.example.signed.zone')]);
    const { records, problems } = parseZoneFile(signed.text, {});
    expect(problems).toEqual([]);
    const faults = [...findFaults(parseName('out.example.'), records, Math.floor(Date.now() / 1000))];
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
    const types = new Set(records.map(({ type }) => type));
    for (const type of [TYPE.DNSKEY, TYPE.RRSIG, TYPE.NSEC]) expect(types).toContain(type);
    const withoutSerial = (zone: string) => zone.replace(/\d+( +; serial)/, '$1');
    expect(withoutSerial((await view('published')).text)).toBe(withoutSerial(before));
  });

  it('refuses other views, and the published view of an external domain', async () => {
    expect((await view('all')).status).toBe(400);
    await api.makeDomain('elsewhere.example', { dnsMode: 'external' });
    const url = '/domains/elsewhere.example/records/export';
    expect(await api.ask('GET', `${url}?view=published`)).toMatchObject({
      status: 400,
      body: { code: 'wrong_state' },
    });
    expect((await api.ask('GET', url)).status).toBe(200);
  });
});
