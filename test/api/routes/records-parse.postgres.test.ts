import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
const PATH = '/domains/parsed.example/records/import/parse';
const TEXT = 'www 60 A 192.0.2.1 ; zonefleet proxied=true\nbad A 1.2.3\n@ SOA a b 1 2 3 4 5\n\tMX 10 mail';
const PARSED = {
  records: [
    { name: 'www', type: 'A', destination: '192.0.2.1', ttl: 60, proxied: true },
    { name: '@', type: 'MX', destination: 'mail.parsed.example', mx_priority: 10, ttl: 60 },
  ],
  errors: [{ line: 2, column: 7, error: expect.any(String) }],
  skipped: [{ line: 3, name: '@', type: 'SOA', reason: expect.any(String) }],
};

beforeAll(async () => {
  await api.makeDomain('parsed.example', { planSlug: null });
});

it('parses a zone file and writes nothing, also without a plan', async () => {
  const answer = await api.ask('POST', PATH, { body: { zone_file: TEXT } });
  expect([answer.status, answer.body]).toEqual([200, PARSED]);
  const records = await api.ask('GET', '/domains/parsed.example/records/?type=A,MX');
  expect(records.body).toEqual([]);
});

it('parses a zone file for a disabled domain', async () => {
  const { id } = await api.makeDomain('off.example');
  const by = { kind: 'cli' } as const;
  await changeStatus(api.database.db, { domainId: id, event: 'disable', by, source: 'test' });
  const answer = await api.ask('POST', '/domains/off.example/records/import/parse', {
    body: { zone_file: TEXT },
  });
  expect([answer.status, answer.body.records.length]).toEqual([200, 2]);
  const imported = await api.ask('POST', '/domains/off.example/records/import', { body: answer.body });
  expect([imported.status, imported.body.code]).toEqual([409, 'domain_disabled']);
});

it.each([
  'text/plain; charset=utf-8',
  'text/dns',
  'Text/Plain;charset=iso-8859-1',
])('accepts a body of %s', async (type) => {
  const answer = await api.ask('POST', PATH, { body: TEXT, headers: { 'content-type': type } });
  expect([answer.status, answer.body]).toEqual([200, PARSED]);
});

it('accepts an Idempotency-Key, and stores nothing under it', async () => {
  const asked = { body: { zone_file: TEXT }, headers: { 'idempotency-key': 'parse' } };
  for (const _ of [1, 2]) {
    const { status, body, headers } = await api.ask('POST', PATH, asked);
    expect([status, body, headers['idempotent-replay']]).toEqual([200, PARSED, undefined]);
  }
  const { rows } = await sql`select from idempotency_keys`.execute(api.database.db);
  expect(rows).toEqual([]);
});

it('reports invalid UTF-8 in records only, not in comments', async () => {
  const body = Buffer.from('a A 192.0.2.1 ; M\xfcller\nb TXT "M\xfcller"', 'latin1');
  const { body: parsed } = await api.ask('POST', PATH, { body, headers: { 'content-type': 'text/plain' } });
  expect(parsed.records).toMatchObject([{ name: 'a' }]);
  expect(parsed.errors).toMatchObject([{ line: 2, column: 7 }]);
});

it.each([
  [{}, 'zone_file'],
  [{ zone_file: '' }, 'zone_file'],
  [{ zone_file: 'a', more: 1 }, 'more'],
  [undefined, 'body'],
])('refuses the body %j', async (body, field) => {
  const answer = await api.ask('POST', PATH, { body });
  expect([answer.status, answer.body.fields?.[0]?.field]).toEqual([400, field]);
});

it('refuses an empty text', async () => {
  const answer = await api.ask('POST', PATH, { body: '', headers: { 'content-type': 'text/plain' } });
  expect([answer.status, answer.body.fields]).toEqual([
    400,
    [{ field: 'zone_file', error: 'the zone file is empty' }],
  ]);
});

it('is the only operation that accepts text', async () => {
  const headers = { 'content-type': 'text/plain' };
  const answer = await api.ask('POST', '/domains/parsed.example/records/import', { body: TEXT, headers });
  expect(answer.status).toBe(400);
});

it('may be called with a key that is narrowed to some records', async () => {
  const narrowed = await api.makeKey({ names: ['x.parsed.example'] });
  expect((await api.ask('POST', PATH, { as: narrowed, body: { zone_file: TEXT } })).status).toBe(200);
});
