import { expect, it } from 'vitest';
import { sameValue, setKey } from '../../../src/zone/records/customer-record.ts';
import { newRecord, stored } from '../../support/zone/customer-records.ts';

const value = newRecord('a A 192.0.2.1');

it('two records have the same value whatever their ids and times', () => {
  expect(sameValue(stored(value, 1), stored(value, 2, '2026-02-02T00:00:00Z'))).toBe(true);
});

it.each([
  { name: newRecord('b A 192.0.2.1').name },
  { type: 'AAAA' as const },
  { rdata: Uint8Array.of(192, 0, 2, 2) },
  { ttl: 60 },
  { proxied: true },
  { captcha: true },
  { scheme: 'Auto' as const },
  { port: 80 },
  { hostHeader: 'x' },
  { monitor: true },
  { destCountry: 'SE' },
  { timeout: 1 },
  { comment: 'x' },
])('%o makes another value', (difference) => {
  expect(sameValue(value, { ...value, ...difference })).toBe(false);
});

it('a record set is a name and a type', () => {
  expect(setKey(value.name, 'A')).toBe(setKey(newRecord('A A 192.0.2.9').name, 'A'));
  expect(setKey(value.name, 'A')).not.toBe(setKey(value.name, 'AAAA'));
});
