import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextError } from '../../../src/dns/errors.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from '../../../src/dns/record/ip-address.ts';
import { scale } from '../../support/tests/scale.ts';

/** Text that is nearly an address. */
const nearly = fc
  .array(fc.constantFrom(':', '::', '0', '1', 'a', 'ffff', '12345', '.', '192.0.2.1', '256', '01', 'g'), {
    maxLength: 17,
  })
  .map((parts) => parts.join(''));

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof TextError) return false;
    throw error;
  }
}

describe('an IP address', () => {
  it('is accepted exactly when Node takes it', () => {
    fc.assert(
      fc.property(fc.oneof(nearly, fc.ipV4(), fc.ipV6()), (text) => {
        expect(accepts(parseIpv4, text)).toBe(isIPv4(text));
        expect(accepts(parseIpv6, text)).toBe(isIPv6(text));
      }),
      { numRuns: scale(5000, 1000) },
    );
  });

  it('comes back from text as it was', () => {
    const groups = fc.array(fc.constantFrom(0, 0, 0, 1, 0xffff, 0xabc), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, fc.uint8Array({ minLength: 4, maxLength: 4 }), (parts, v4) => {
        const octets = Uint8Array.from(parts.flatMap((group) => [group >> 8, group & 255]));
        expect(parseIpv6(printIpv6(octets))).toEqual(octets);
        expect(parseIpv4(printIpv4(v4))).toEqual(v4);
      }),
      { numRuns: scale(2000, 500) },
    );
  });

  it.each([
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['::192.0.2.1', '::c000:201'],
  ])('%s is printed by RFC 5952 as %s', (text, canonical) => {
    expect(printIpv6(parseIpv6(text))).toBe(canonical);
  });

  it('has no zone identifier', () => {
    expect(() => parseIpv6('fe80::1%eth0')).toThrow(TextError);
  });
});
