import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { isPublicSuffix } from '../../../src/zone/domain/public-suffix.ts';

it.each([
  ['com.', true],
  ['co.uk.', true],
  ['COM.', true],
  ['example.com.', false],
  ['www.co.uk.', false],
  ['.', false],
  ['unknown-tld.', true],
  ['example.unknown-tld.', false],
  // customers of these choose their own name servers
  ['github.io.', false],
])('%s: %s', (name, expected) => {
  expect(isPublicSuffix(parseName(name.toLowerCase()))).toBe(expected);
});
