import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MAX_PROBLEMS } from '../../src/api/answers/problem.ts';
import { DomainCreate, DomainEnable, DomainUpdate } from '../../src/api/schemas/domain.ts';
import { boundedArray, nameText } from '../../src/api/schemas/fields.ts';
import { BatchDelete, RecordsBatch } from '../../src/api/schemas/records/batch.ts';
import { MAX_IMPORT_ITEMS, RecordsImport } from '../../src/api/schemas/records/import.ts';
import { RecordCreate, RecordUpdate } from '../../src/api/schemas/records/record.ts';
import { JobsWanted, VantageAnswer } from '../../src/api/schemas/vantage.ts';
import { encodeEvidence, type JsonEvidence } from '../../src/checks/delegation/evidence-json.ts';
import { parseName } from '../../src/dns/name.ts';
import { evidenceOf } from '../support/world/made-checks.ts';

function wrongFields(schema: z.ZodType, body: unknown): string[] {
  const { error } = schema.safeParse(body);
  const fields = error?.issues.map(({ path, ...issue }) => ('keys' in issue ? issue.keys : path).join('.'));
  return [...new Set(fields)];
}

const NO_BOOLEAN = [null, 'true', 0, 1, {}, []];
const noNumber = (...more: unknown[]) => [null, '5', true, 1.5, {}, [], ...more];
const GOOD = { name: 'ok', type: 'A', destination: '192.0.2.1' };

describe('a record', () => {
  it.each<[field: string, ...values: unknown[]]>([
    ['name', null, 1, '', 'x'.repeat(1025), ['a'], {}, true],
    ['type', null, 1, '', 'TYPE1', 'SOA', 'ANY', ['A'], {}],
    ['destination', null, 1, '', ['192.0.2.1'], {}, false],
    ['mx_priority', ...noNumber(-1, 65_536)],
    ['ttl', ...noNumber(59, 86_401, 300.5, -1, 1e300)],
    ['proxied', ...NO_BOOLEAN],
    ['captcha', ...NO_BOOLEAN],
    ['scheme', null, '', 'https', 1, []],
    ['port', ...noNumber(0, 65_536)],
    ['host_header', null, 1, 'x'.repeat(256), []],
    ['monitor', ...NO_BOOLEAN],
    ['dest_country', null, 'nl', 'NLD', 1, 'N', []],
    ['timeout', ...noNumber(0, 3601)],
    ['comment', null, 1, 'x'.repeat(1025), []],
    ['nonsense', 1, 'x', null],
  ])('is refused with a wrong %s: %j %j %j', (field, ...values) => {
    for (const value of values) {
      expect([value, wrongFields(RecordCreate, { ...GOOD, [field]: value })]).toEqual([value, [field]]);
      expect([value, wrongFields(RecordUpdate, { [field]: value })]).toEqual([value, [field]]);
    }
  });

  it('may have its type in any case', () => {
    expect(RecordCreate.parse({ ...GOOD, type: 'a' }).type).toBe('A');
    expect(RecordUpdate.parse({ type: 'type65280' }).type).toBe('TYPE65280');
    const a = { ...GOOD, type: 'a' };
    const replace = [{ name: 'c', type: 'aaaa', records: [{ destination: '2001:db8::1' }] }];
    const batch = RecordsBatch.parse({ create: [a], update: [{ id: 1, type: 'Txt' }], replace });
    expect(batch).toMatchObject({
      create: [{ type: 'A' }],
      update: [{ type: 'TXT' }],
      replace: [{ type: 'AAAA' }],
    });
  });

  it('requires a name, a type and a destination if it is new, and nothing if it is updated', () => {
    expect(wrongFields(RecordCreate, {})).toEqual(['name', 'type', 'destination']);
    expect(wrongFields(RecordUpdate, {})).toEqual([]);
  });

  it('may have the smallest and the largest values', () => {
    const longest = { comment: 'x'.repeat(1024), host_header: 'x'.repeat(255) };
    const most = { ttl: 86_400, mx_priority: 65_535, port: 65_535, timeout: 3600, ...longest };
    for (const values of [most, { ttl: 60, mx_priority: 0, port: 1, timeout: 1 }])
      expect(wrongFields(RecordCreate, { ...GOOD, ...values })).toEqual([]);
  });

  it('may have its read-only members only in an update', () => {
    const facts = { id: 1, user_id: 'x', domain_id: null, original_name: 1, dns_content: 1, editable: 1 };
    expect(wrongFields(RecordUpdate, { ...facts, created_at: 1, updated_at: 1 })).toEqual([]);
    expect(wrongFields(RecordCreate, { ...GOOD, id: 1 })).toEqual(['id']);
  });

  it.each([
    [RecordsBatch, null, ''],
    [RecordsBatch, [], ''],
    [RecordsBatch, { create: {} }, 'create'],
    [RecordsBatch, { create: [null] }, 'create.0'],
    [RecordsBatch, { delete: ['1'] }, 'delete.0'],
    [RecordsBatch, { delete: [0] }, 'delete.0'],
    [RecordsBatch, { delete: [1.5] }, 'delete.0'],
    [RecordsBatch, { update: [{ ttl: 60 }] }, 'update.0.id'],
    [RecordsBatch, { update: [{ id: '1' }] }, 'update.0.id'],
    [RecordsBatch, { replace: [{ name: 'a', type: 'A' }] }, 'replace.0.records'],
    [RecordsBatch, { replace: [{ name: 'a', records: [] }] }, 'replace.0.type'],
    [RecordsBatch, { replace: [{ name: 'a', type: 'A', records: [{}] }] }, 'replace.0.records.0.destination'],
    [RecordsBatch, { replace: [{ name: 'a', type: 'A', records: [GOOD] }] }, 'name.type'],
    [RecordsBatch, { upsert: [] }, 'upsert'],
    [BatchDelete, { ids: [] }, 'ids'],
    [BatchDelete, { ids: ['1'] }, 'ids.0'],
    [BatchDelete, { ids: 1 }, 'ids'],
    [BatchDelete, { ids: [1], id: [1] }, 'id'],
    [BatchDelete, {}, 'ids'],
    [RecordsImport, {}, 'records'],
    [RecordsImport, { records: [] }, 'records'],
    [RecordsImport, { records: 'x' }, 'records'],
    [RecordsImport, { records: [{ name: 'a', type: 'A' }] }, 'records.0.destination'],
    [RecordsImport, { records: [{ ...GOOD, type: 1 }] }, 'records.0.type'],
    [RecordsImport, { records: [{ ...GOOD, ttl: '60' }] }, 'records.0.ttl'],
    [RecordsImport, { records: [{ ...GOOD, colour: 'red' }] }, 'colour'],
    [RecordsImport, { records: [GOOD], overwrite: true }, 'overwrite'],
  ])('is refused in a list if its form is wrong: %# %j', (schema, body, field) => {
    expect(wrongFields(schema, body)).toEqual([field]);
  });

  it('of an import may have values out of range, which fail individually', () => {
    const item = { ...GOOD, type: 'FOO', ttl: 1e30, port: 1.5, scheme: 'Gopher', comment: 'x'.repeat(2000) };
    expect(wrongFields(RecordsImport, { records: [item] })).toEqual([]);
  });

  it('is one of at most 10,000 items of a batch, in which a set counts as many items as its records', () => {
    const create = (count: number) => Array.from({ length: count }, () => GOOD);
    const records = Array.from({ length: 5000 }, (_, i) => ({ destination: `t${i}` }));
    const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
    const replace = [{ name: 't', type: 'TXT', records }];
    for (const [body, isAccepted] of [
      [{ create: create(10_000) }, true],
      [{ create: create(5000), replace }, true],
      [{ create: create(10_001) }, false],
      [{ create: create(5000), delete: ids(5001) }, false],
      [{ create: create(5001), replace }, false],
      [{ update: ids(5001).map((id) => ({ id })), replace }, false],
    ] as const)
      expect(RecordsBatch.safeParse(body).success).toBe(isAccepted);
  });
});

describe('a domain', () => {
  it.each<[field: string, values: unknown[]]>([
    ['name', [undefined, null, 1, true, {}, [], ['a.com'], '', 'x'.repeat(1025)]],
    ['dns_mode', [null, '', 'Managed', 'both', 1, true, {}, []]],
    ['scan', NO_BOOLEAN],
    ['transfer', NO_BOOLEAN],
    ['colour', ['red', null]],
    ['id', [1]],
    ['status', ['active']],
    ['dnssec', ['yes', null, { denial: 'nsec5' }, { split: 'x' }, { algorithm: 8 }]],
    ['way', [{ way: 'x' }]],
  ])('is refused at creation with a wrong %s', (field, values) => {
    const member = field === 'way' ? 'dnssec' : field;
    for (const value of values)
      expect([value, wrongFields(DomainCreate, { name: 'a.com', [member]: value })]).toEqual([
        value,
        [field],
      ]);
  });

  it('is managed, scanned and not a transfer by default', () => {
    const defaults = { dns_mode: 'managed', scan: true, transfer: false };
    expect(DomainCreate.parse({ name: 'a.com' })).toEqual({ name: 'a.com', ...defaults });
  });

  it.each([{ transfer: 1 }, { transfer: null }, { wait: true }])('is not enabled by %j', (body) => {
    expect(wrongFields(DomainEnable, body)).toEqual(Object.keys(body));
  });

  it.each<[field: string, values: unknown[]]>([
    ['dns_mode', [null, '', 'Managed', 'none', 1, true, {}, []]],
    ['cache_l2_max_gb', noNumber(-1, 1_000_001, 1e300)],
    ['cache_l2_ttl_days', noNumber(0, 8, -1)],
    ['cache_cap_mb', noNumber(0, 127, 129, 1024, 8192, -128, '128')],
    ['sec_no_sniff', NO_BOOLEAN],
    ['sec_referrer_policy', NO_BOOLEAN],
    ['sec_strip_headers', NO_BOOLEAN],
    ['markdown_for_agents', NO_BOOLEAN],
    ['outage_alerts', NO_BOOLEAN],
    ['uptime_threshold_pct', noNumber(49, 101)],
    ['uptime_window_min', noNumber(1, 61)],
    ['uptime_min_requests', noNumber(-1, 1_000_000_001)],
    ['uptime_min_active_min', noNumber(0, 61)],
    ['uptime_recover_min', noNumber(0, 1441)],
    ['developer_mode_until', ['soon', 1]],
    ['svc_ns', [null, 'ns1.example.net', 1, {}]],
    ['svc_ns.0', [[1, 'ns2.example.net']]],
    ['svc_ns.1', [['ns1.example.net', null]]],
    ['colour', ['red', null]],
    ['Dns_Mode', ['managed']],
    ['max_records', [5]],
  ])('is refused at an update with a wrong %s', (field, values) => {
    const [member = ''] = field.split('.');
    for (const value of values)
      expect([value, wrongFields(DomainUpdate, { [member]: value })]).toEqual([value, [field]]);
  });

  it.each([
    ['cache_l2_max_gb', 0, 1_000_000],
    ['cache_l2_ttl_days', 1, 7],
    ['cache_cap_mb', 128, 256, 512, 2048, 4096],
    ['uptime_threshold_pct', 50, 100],
    ['uptime_window_min', 2, 60],
    ['uptime_min_requests', 0, 1_000_000_000],
    ['uptime_min_active_min', 1, 60],
    ['uptime_recover_min', 1, 1440],
  ] as const)('may be updated with the limits of %s', (field, ...values) => {
    for (const value of values) expect(wrongFields(DomainUpdate, { [field]: value })).toEqual([]);
  });

  it('is refused at an update with read-only members, whatever the value', () => {
    const facts = { id: 1, name: 'x', status: 'active', serial: null, my_role: [], findings: 3, ssl: 1 };
    const { error } = DomainUpdate.safeParse({ ...facts, records: 'x', outage_alerts: true });
    const named = error?.issues.map(({ path }) => path.join());
    expect(named?.sort()).toEqual([...Object.keys(facts), 'records'].sort());
    expect(new Set(error?.issues.map(({ message }) => message))).toEqual(
      new Set(['is read-only: leave it out']),
    );
  });
});

describe('evidence of an observer', () => {
  const NS = ['ns1.a.example.', 'ns2.b.example.'];
  const evidence: JsonEvidence = JSON.parse(
    JSON.stringify(encodeEvidence(evidenceOf(parseName('shop.example.'), NS))),
  );
  const [server] = evidence.servers as [JsonEvidence['servers'][number]];
  const id = '5b3f9a52-6c1c-4f0e-9b7e-0a1b2c3d4e5f';
  const wrongIn = (evidence: unknown) => wrongFields(VantageAnswer, { id, name: 'shop.example', evidence });

  it('is accepted if Zonefleet encoded it', () => {
    expect(wrongIn(evidence)).toEqual([]);
    const awkward = { ...server, needed: ['tcp', 'no_edns', 'lower_case'] };
    expect(wrongIn({ ...evidence, servers: [awkward] })).toEqual([]);
  });

  it.each<[field: string, value: unknown]>([
    ['evidence.domain', 'SHOP.example.'],
    ['evidence.domain', `${'a'.repeat(64)}.example.`],
    ['evidence.walk', Array.from({ length: 65 }, () => evidence.walk[0])],
    ['evidence.servers', Array.from({ length: 129 }, () => server)],
    ['evidence.finishedAt', 'now'],
    ['more', 1],
  ])('is refused with a wrong %s', (field, value) => {
    expect(wrongIn({ ...evidence, [field.replace('evidence.', '')]: value })[0]).toBe(field);
  });

  it.each<[field: string, value: unknown]>([
    ['transport', 'database'],
    ['needed.0', ['anything']],
    ['needed', ['tcp', 'tcp', 'tcp', 'tcp']],
    ['outcome', 'yes'],
    ['ns.0', ['ns1.a..example.']],
    ['ns', Array.from({ length: 65 }, () => 'a.')],
    ['ds.0', ['***']],
    ['ds', Array.from({ length: 17 }, () => 'AA==')],
    ['error', 'a\u001b[31m'],
    ['error', 'x'.repeat(2001)],
    ['address', ''],
  ])('is refused with a wrong %s of a server', (field, value) => {
    const [member = ''] = field.split('.');
    const servers = [{ ...server, [member]: value }];
    expect(wrongIn({ ...evidence, servers })).toEqual([`evidence.servers.0.${field}`]);
  });

  it.each([
    { max: 17, waitSeconds: 0 },
    { max: 0, waitSeconds: 0 },
    { max: 1, waitSeconds: 21 },
    { max: 1 },
    { max: 1, waitSeconds: 0, more: 1 },
  ])('is not accepted from a request for jobs with %j', (body) =>
    expect(JobsWanted.safeParse(body).success).toBe(false));
});

describe('an array', () => {
  /** An item that counts how often it is validated. */
  function counted() {
    const state = { count: 0 };
    const item = z.number().refine((n) => {
      state.count++;
      return n > 0;
    });
    return { state, item };
  }

  it('of invalid items is validated until its twentieth problem', () => {
    const { state, item } = counted();
    const { error } = boundedArray(item).safeParse(Array(100_000).fill(0));
    expect([error?.issues.length, state.count]).toEqual([MAX_PROBLEMS, MAX_PROBLEMS]);
    expect(error?.issues.at(-1)?.path).toEqual([MAX_PROBLEMS - 1]);
    const wrong = Array(100_000).fill(1);
    expect(RecordsBatch.safeParse({ create: wrong }).error?.issues).toHaveLength(MAX_PROBLEMS);
    expect(RecordsImport.safeParse({ records: wrong }).error?.issues).toHaveLength(MAX_PROBLEMS);
  });

  it('that is too long is refused before its items are validated', () => {
    const { state, item } = counted();
    for (const list of [boundedArray(item).max(10), boundedArray(item).min(1).max(10).describe('ten')]) {
      const { error } = list.safeParse(Array(11).fill(0));
      expect(error?.issues).toMatchObject([{ code: 'too_big', maximum: 10 }]);
    }
    expect(state.count).toBe(0);
    const tooMany = RecordsImport.safeParse({ records: Array(MAX_IMPORT_ITEMS + 1).fill(1) });
    expect(tooMany.error?.issues).toMatchObject([{ code: 'too_big' }]);
  });

  it('contains items as parsed by their schema, and is described like any other array', () => {
    const read = boundedArray(z.object({ n: z.number().default(7) })).safeParse([{}, { n: 1, more: 2 }]);
    expect(read.data).toEqual([{ n: 7 }, { n: 1 }]);
    expect(boundedArray(z.number()).safeParse({}).error?.issues).toMatchObject([{ expected: 'array' }]);
    const bounded = boundedArray(z.string()).min(1).max(3);
    expect(z.toJSONSchema(bounded)).toEqual(z.toJSONSchema(z.array(z.string()).min(1).max(3)));
  });
});

it.each([
  ['Ann', true],
  ['آریا\u200cنام', true],
  ['Zoë 👩\u200d🔬', true],
  ['a@b, "c"', true],
  ['', false],
  ['x'.repeat(101), false],
  ['a\nb', false],
  ['a\u001b[2Jb', false],
  ['a\u0085', false],
  ['a\u2028b', false],
  ['a\u202eb', false],
  ['a\u2066', false],
])('%j is a valid name: %s', (text, isName) => {
  expect(nameText(100).safeParse(text)).toMatchObject({ success: isName, ...(isName && { data: text }) });
});
