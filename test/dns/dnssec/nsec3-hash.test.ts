import { describe, expect, it } from 'vitest';
import { nsec3Hash } from '../../../src/dns/dnssec/nsec3-hash.ts';
import { parseName } from '../../../src/dns/name.ts';
import { printBase32Hex } from '../../../src/dns/record/base-encodings.ts';

const hash = (name: string) =>
  printBase32Hex(nsec3Hash(parseName(name), Uint8Array.of(0xaa, 0xbb, 0xcc, 0xdd), 12)).toLowerCase();

describe('the hash of a name', () => {
  it('is that of the example of RFC 5155 A', () => {
    expect(hash('example.')).toBe('0p9mhaveqvm6t7vbl5lop2u3t2rp3tom');
    expect(hash('a.example.')).toBe('35mthgpgcu1qg68fab165klnsnk3dpvl');
    expect(hash('*.w.example.')).toBe('r53bq7cc2uvmubfu5ocmm6pers9tk9en');
  });

  it('does not depend on the case of letters', () => {
    expect(hash('A.EXAMPLE.')).toBe(hash('a.example.'));
  });
});
