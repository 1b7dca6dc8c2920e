import { expect, it } from 'vitest';
import { prefixOf } from '../../../src/checks/child/network-prefix.ts';

it.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:7:8::9', '2001:db8:7::/48'],
  ['2001:DB8::1', '2001:db8:0::/48'],
])('%s is in %s', (address, prefix) => {
  expect(prefixOf(address)).toBe(prefix);
});
