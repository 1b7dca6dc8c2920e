import { expect, it } from 'vitest';
import { whyUnchecked } from '../../../src/zone/domain/why-unchecked.ts';

it.each([
  ['active', 'managed', 'full', undefined],
  ['pending', 'managed', 'apex', undefined],
  ['moved', 'managed', 'full', undefined],
  ['unverified', 'external', 'full', undefined],
  ['unverified', 'external', 'none', 'the domain is in external mode: it is not checked'],
  ['disabled', 'managed', 'none', 'the domain is disabled: it is not checked'],
  ['banned', 'external', 'none', 'the domain is banned: it is not checked'],
] as const)('%s, %s, served %s', (status, dnsMode, served, why) => {
  expect(whyUnchecked({ status, dnsMode, served })).toBe(why);
});
