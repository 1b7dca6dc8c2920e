import { describe, expect, it } from 'vitest';
import { canonicalAddress, findSharedNetwork } from '../../../src/zone/pool/address-lists.ts';

describe('the addresses of a pool', () => {
  it('are printed as answers print them', () => {
    expect(canonicalAddress('192.0.2.1')).toBe('192.0.2.1');
    expect(canonicalAddress('2001:DB8:0:0:0:0:0:1')).toBe('2001:db8::1');
    for (const text of ['192.0.2', '192.0.2.01', 'fe80::1%eth0', 'ns1.example', '']) {
      expect(canonicalAddress(text)).toBeUndefined();
    }
  });

  it('share a network if two lists have addresses in one /24 or /48', () => {
    const v4 = { network: '192.0.2.0/24', a: 1, b: 3 };
    expect(findSharedNetwork([['192.0.2.1'], ['198.51.100.1'], ['192.0.2.250']])).toEqual(v4);
    const v6 = { network: '2001:db8:1::/48', a: 1, b: 2 };
    expect(findSharedNetwork([['2001:db8:1::1'], ['2001:db8:1:ffff::1']])).toEqual(v6);
    // one list has two addresses there, or the networks differ
    const own = ['192.0.2.1', '192.0.2.2', '2001:db8:1::1'];
    expect(findSharedNetwork([own, ['192.0.3.1', '2001:db8:2::1']])).toBeUndefined();
  });
});
