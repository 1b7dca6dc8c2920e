import { describe, expect, it } from 'vitest';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const tagOf = (text: string) => keyTag(recordsOf(`@ DNSKEY ${text}`)[0]?.rdata as Uint8Array);

describe('the tag of a key', () => {
  it('is that of the examples of RFC 4034, RFC 6605 and RFC 8080', () => {
    expect(
      tagOf(
        '256 3 5 AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==',
      ),
    ).toBe(60485);
    expect(
      tagOf(
        '257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==',
      ),
    ).toBe(55648);
    expect(tagOf('257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=')).toBe(3613);
  });

  it('of algorithm 1 is the end of the modulus (RFC 4034 B.1)', () => {
    expect(tagOf(`257 3 1 ${Buffer.from([3, 1, 0, 1, 9, 0x12, 0x34, 0x56]).toString('base64')}`)).toBe(
      0x1234,
    );
  });
});
