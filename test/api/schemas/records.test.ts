import { expect, it } from 'vitest';
import type { z } from 'zod';
import { BatchDelete, RecordsBatch } from '../../../src/api/schemas/records/batch.ts';
import { RecordsImport } from '../../../src/api/schemas/records/import.ts';
import { RecordCreate, RecordUpdate } from '../../../src/api/schemas/records/record.ts';

const GOOD = { name: 'ok', type: 'A', destination: '192.0.2.1' };

function wrongFields(schema: z.ZodType, body: unknown): string[] {
  const { error } = schema.safeParse(body);
  const fields = error?.issues.map(({ path, ...issue }) => ('keys' in issue ? issue.keys : path).join('.'));
  return [...new Set(fields)];
}

it.each<[field: string, ...values: unknown[]]>([
  ['name', null, 1, '', 'x'.repeat(1025), ['a'], {}, true],
  ['type', null, 1, '', 'a', 'SOA', 'ANY', ['A'], {}],
  ['destination', null, 1, '', ['192.0.2.1'], {}, false],
  ['mx_priority', null, '10', -1, 65_536, 1.5, [], true],
  ['ttl', null, '300', 59, 86_401, 300.5, -1, 1e300, [], true],
  ['proxied', null, 'true', 1, 0, []],
  ['captcha', null, 'true', 1, {}],
  ['scheme', null, '', 'https', 1, []],
  ['port', null, '443', 0, 65_536, 1.5, []],
  ['host_header', null, 1, 'x'.repeat(256), []],
  ['monitor', null, 'no', 1],
  ['dest_country', null, 'nl', 'NLD', 1, 'N', []],
  ['timeout', null, '15', 0, 3601, 1.5],
  ['comment', null, 1, 'x'.repeat(1025), []],
  ['nonsense', 1, 'x', null],
])('a record with a wrong %s is refused: %j %j %j', (field, ...values) => {
  for (const value of values) {
    expect([value, wrongFields(RecordCreate, { ...GOOD, [field]: value })]).toEqual([value, [field]]);
    expect([value, wrongFields(RecordUpdate, { [field]: value })]).toEqual([value, [field]]);
  }
});

it('a new record needs a name, a type and a destination, and an update nothing', () => {
  expect(wrongFields(RecordCreate, {})).toEqual(['name', 'type', 'destination']);
  expect(wrongFields(RecordUpdate, {})).toEqual([]);
});

it('the longest values are accepted', () => {
  const longest = {
    ttl: 86_400,
    mx_priority: 65_535,
    port: 65_535,
    timeout: 3600,
    comment: 'x'.repeat(1024),
  };
  expect(wrongFields(RecordCreate, { ...GOOD, ...longest, host_header: 'x'.repeat(255) })).toEqual([]);
  expect(wrongFields(RecordCreate, { ...GOOD, ttl: 60, mx_priority: 0, port: 1, timeout: 1 })).toEqual([]);
});

it('an update may contain the read-only members of a record', () => {
  const facts = { id: 1, user_id: 'x', domain_id: null, original_name: 1, dns_content: 1, editable: 1 };
  expect(wrongFields(RecordUpdate, { ...facts, created_at: 1, updated_at: 1 })).toEqual([]);
  expect(wrongFields(RecordCreate, { ...GOOD, id: 1 })).toEqual(['id']);
});

it.each([
  [null, ''],
  [[], ''],
  [{ create: {} }, 'create'],
  [{ create: [null] }, 'create.0'],
  [{ delete: ['1'] }, 'delete.0'],
  [{ delete: [0] }, 'delete.0'],
  [{ delete: [1.5] }, 'delete.0'],
  [{ update: [{ ttl: 60 }] }, 'update.0.id'],
  [{ update: [{ id: '1' }] }, 'update.0.id'],
  [{ replace: [{ name: 'a', type: 'A' }] }, 'replace.0.records'],
  [{ replace: [{ name: 'a', records: [] }] }, 'replace.0.type'],
  [{ replace: [{ name: 'a', type: 'A', records: [{}] }] }, 'replace.0.records.0.destination'],
  [{ replace: [{ name: 'a', type: 'A', records: [{ destination: '192.0.2.1', name: 'a' }] }] }, 'name'],
  [{ upsert: [] }, 'upsert'],
])('a batch %j is refused', (body, field) => {
  expect(wrongFields(RecordsBatch, body)).toEqual([field]);
});

it.each([
  [{ ids: [] }],
  [{ ids: ['1'] }],
  [{ ids: 1 }],
  [{ id: [1] }],
  [{}],
])('a list of ids %j is refused', (body) => expect(BatchDelete.safeParse(body).success).toBe(false));

it.each([
  [{}, 'records'],
  [{ records: [] }, 'records'],
  [{ records: 'x' }, 'records'],
  [{ records: [{ name: 'a', type: 'A' }] }, 'records.0.destination'],
  [{ records: [{ name: 'a', type: 1, destination: 'x' }] }, 'records.0.type'],
  [{ records: [{ ...GOOD, ttl: '60' }] }, 'records.0.ttl'],
  [{ records: [{ ...GOOD, colour: 'red' }] }, 'colour'],
  [{ records: [GOOD], overwrite: true }, 'overwrite'],
])('an import %j is refused', (body, field) => {
  expect(wrongFields(RecordsImport, body)).toEqual([field]);
});

it('an import accepts values out of range, which fail alone', () => {
  const item = { ...GOOD, type: 'FOO', ttl: 1e30, port: 1.5, scheme: 'Gopher', comment: 'x'.repeat(2000) };
  expect(wrongFields(RecordsImport, { records: [item] })).toEqual([]);
});

it('a batch has at most 10,000 items in all, and a set counts as its records', () => {
  const create = (count: number) => Array.from({ length: count }, () => GOOD);
  const records = Array.from({ length: 5000 }, (_, i) => ({ destination: `t${i}` }));
  const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
  const replace = [{ name: 't', type: 'TXT', records }];
  const isTaken = (body: object) => RecordsBatch.safeParse(body).success;
  expect(isTaken({ create: create(10_000) })).toBe(true);
  expect(isTaken({ create: create(5000), replace })).toBe(true);
  for (const body of [
    { create: create(10_001) },
    { create: create(5000), delete: ids(5001) },
    { create: create(5001), replace },
    { update: ids(5001).map((id) => ({ id })), replace },
  ])
    expect(isTaken(body)).toBe(false);
});
