// What a profile changes, and how a wrong one is refused.

import { expect, test } from 'vitest';
import { DEFAULT_PROFILE, readProfile } from '../../../src/checks/child/profile.ts';

const profileOf = (value: unknown) => {
  const read = readProfile(JSON.stringify(value));
  if (read.kind === 'problem') throw new Error(read.message);
  return read.profile;
};

test('an empty profile is the default', () => {
  expect(profileOf({})).toEqual(DEFAULT_PROFILE);
});

test('a code is turned off, or gets another severity', () => {
  const profile = profileOf({ TCP_REFUSED: 'notice', IPV4_ONLY: 'off' });
  expect(profile.get('TCP_REFUSED')).toBe('notice');
  expect(profile.has('IPV4_ONLY')).toBe(false);
  expect(profile.get('EDNS_BROKEN')).toBe('warning');
});

test('a test case stands for its codes, and a code has precedence', () => {
  const profile = profileOf({ delegation01: 'off', TOO_FEW_NAMES: 'warning' });
  expect(profile.has('IPV4_ONLY')).toBe(false);
  expect(profile.has('IPV6_ONLY')).toBe(false);
  expect(profile.get('TOO_FEW_NAMES')).toBe('warning');
});

test.each([
  ['{', /^it is not JSON/],
  ['[]', /^a profile is an object/],
  ['null', /^a profile is an object/],
  ['{"delegation99": "off"}', /^"delegation99" is neither a code nor a test case$/],
  ['{"TCP_REFUSED": "fatal"}', /^"TCP_REFUSED" must be one of notice, warning, error, off$/],
  ['{"TCP_REFUSED": 1}', /^"TCP_REFUSED" must be one of/],
  ['{"undefined": "off"}', /^"undefined" is neither/],
])('%s is refused, with what is wrong', (text, message) => {
  expect(readProfile(text)).toEqual({ kind: 'problem', message: expect.stringMatching(message) });
});
