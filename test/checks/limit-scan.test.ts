import { expect, test } from 'vitest';
import { limitScan } from '../../src/checks/limit-scan.ts';
import { scanOf } from '../support/made-scans.ts';

const scan = scanOf([
  'a A 198.51.100.1',
  'b TXT a text of more octets',
  'a A 198.51.100.2',
  'c A 198.51.100.3',
]);
const names = (limited: typeof scan) => limited.records.map(({ name }) => name.slice(1, 2)).join('');

test('a scan that is no larger than any real zone is kept as it is', () => {
  expect(limitScan(scan)).toBe(scan);
});

test('of one that is, whole record sets are kept, and it is not complete', () => {
  const few = limitScan(scan, { records: 3, octets: 1000 });
  expect([names(few), few.complete]).toEqual(['aba', false]);
  expect(few.shortfalls).toEqual(['1 records were left out: there are more than a scan keeps']);
  expect(names(limitScan(scan, { records: 1, octets: 1000 }))).toBe('b');
  expect(names(limitScan(scan, { records: 10, octets: 12 }))).toBe('aac');
});
