import { expect, it } from 'vitest';
import { upperCaseAscii } from '../../src/dns/ascii.ts';

it('only a to z have an upper case', () => {
  expect(upperCaseAscii('soa-Type65280_z')).toBe('SOA-TYPE65280_Z');
  expect(upperCaseAscii('ſoa ı ü ß')).toBe('ſOA ı ü ß');
});
