import { describe, expect, it } from 'vitest';
import type { RecordSettings } from '../../../src/zone/records/customer-record.ts';
import { judgeRecord } from '../../../src/zone/records/judge-record.ts';
import { APEX, EDGES, NO_EDGES, newRecord } from '../../support/zone/customer-records.ts';

const domain = { apex: APEX, edges: EDGES };
const fields = (given: Partial<RecordSettings> & { ttl?: number }) =>
  judgeRecord({ ...newRecord('www A 192.0.2.1'), ...given }, given, domain).map(({ field }) => field);

describe('ranges', () => {
  it.each<[string, Partial<RecordSettings> & { ttl?: number }]>([
    ['ttl', { ttl: 59 }],
    ['ttl', { ttl: 86_401 }],
    ['ttl', { ttl: 300.5 }],
    ['ttl', { ttl: Number.NaN }],
    ['port', { port: 0 }],
    ['port', { port: 65_536 }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: 3_601 }],
    ['scheme', { scheme: 'https' as 'Https' }],
    ['host_header', { hostHeader: 'a b' }],
    ['host_header', { hostHeader: 'a..b' }],
    ['host_header', { hostHeader: 'example.com/path' }],
    ['host_header', { hostHeader: `${'a'.repeat(64)}.example` }],
    ['dest_country', { destCountry: 'se' }],
    ['dest_country', { destCountry: 'SWE' }],
    ['comment', { comment: 'x'.repeat(1_025) }],
    ['comment', { comment: 'a\0b' }],
    ['comment', { comment: '\ud800' }],
  ])('a bad %s is named', (field, given) => {
    expect(fields(given)).toEqual([field]);
  });

  it('good values pass', () => {
    const all = {
      ttl: 60,
      port: 1,
      timeout: 1,
      scheme: 'Auto',
      hostHeader: 'o.example.net',
      destCountry: 'SE',
      comment: '😀'.repeat(1_024),
    } as const;
    expect(fields(all)).toEqual([]);
    expect(fields({ hostHeader: null, destCountry: null, comment: null })).toEqual([]);
  });

  it('fields that the caller did not give are not judged', () => {
    expect(judgeRecord({ ...newRecord('www A 192.0.2.1'), ttl: 7, port: 0 }, {}, domain)).toEqual([]);
  });
});

it.each([
  ['@ NS ns.example.net', 'type'],
  ['@ CNAME web.example.net', 'type'],
  ['* NS ns.example.net', 'name'],
  ['a CNAME a.example.com', 'destination'],
  ['a ANAME A.example.com ; proxied', 'destination'],
  ['a MX 0 a.example.com', undefined],
  ['@ CNAME web.example.net ; proxied', undefined],
  ['a TXT x ; proxied', 'proxied'],
])('%s: %s', (line, field) => {
  const value = newRecord(line);
  expect(judgeRecord(value, { proxied: value.proxied }, domain)[0]?.field).toBe(field);
});

it('nothing is proxied without an edge', () => {
  const value = newRecord('a A 192.0.2.1 ; proxied');
  const bare = { apex: APEX, edges: NO_EDGES };
  expect(judgeRecord(value, { proxied: true }, bare).map(({ field }) => field)).toEqual(['proxied']);
  expect(judgeRecord(value, {}, bare)).toEqual([]);
  expect(
    judgeRecord(value, { proxied: true }, { apex: APEX, edges: { v4: [], v6: ['2001:db8::1'] } }),
  ).toEqual([]);
});
