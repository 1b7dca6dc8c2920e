import { describe, expect, it } from 'vitest';
import { clientOctets, printClient } from '../../../src/edge/requests/client-prefix.ts';

const octets = (text: string) => clientOctets(text) as Uint8Array;

describe('of an address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.0/24'],
    ['::ffff:203.0.113.9', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['::1', '::/48'],
  ])('%s is kept as %s', (address, kept) => {
    expect(printClient(octets(address), false)).toBe(kept);
  });

  it('all is kept only when that is asked for', () => {
    expect(printClient(octets('2001:DB8:0:0::6'), true)).toBe('2001:db8::6');
  });
});
