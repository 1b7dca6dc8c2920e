// Random case of letters: nothing but letters changes, and each letter is decided by a bit of its own.

import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { foldCase, type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { encodeQuery } from '../../../src/resolver/exchange/encode-query.ts';
import { MIXING_BYTES, mixCase } from '../../../src/resolver/exchange/mixed-case.ts';

function mixed(name: Name, random: Uint8Array): Name {
  const query = encodeQuery(name, TYPE.NS, true);
  const before = Uint8Array.from(query);
  mixCase(query, random);
  const end = 12 + name.length;
  expect(query.subarray(0, 12)).toEqual(before.subarray(0, 12));
  expect(query.subarray(end)).toEqual(before.subarray(end));
  return decodeMessage(query).questions[0]?.name as Name;
}

describe('mixCase', () => {
  it('writes a letter in upper case where its bit is set, whatever its case was', () => {
    const ones = new Uint8Array(MIXING_BYTES).fill(255);
    const zeros = new Uint8Array(MIXING_BYTES);
    expect(mixed(parseName('wWw.eXample.'), ones)).toBe(parseName('WWW.EXAMPLE.'));
    expect(mixed(parseName('wWw.eXample.'), zeros)).toBe(parseName('www.example.'));
    const alternating = new Uint8Array(MIXING_BYTES).fill(0b1010_1010);
    expect(mixed(parseName('abcdefghij.'), alternating)).toBe(parseName('AbCdEfGhIj.'));
  });

  it('leaves octets alone that are no letters', () => {
    const name = parseName('a1-_\\@\\[\\`\\{\\000\\193\\225.x--y.');
    const ones = new Uint8Array(MIXING_BYTES).fill(255);
    expect(mixed(name, ones)).toBe(parseName('A1-_\\@\\[\\`\\{\\000\\193\\225.X--Y.'));
    expect(mixed(ROOT, ones)).toBe(ROOT);
  });

  it('reaches the last letter of the longest name, and length octets stay', () => {
    const name = `${`\x3f${'x'.repeat(63)}`.repeat(3)}\x3d${'y'.repeat(61)}\0` as Name;
    const last = new Uint8Array(MIXING_BYTES);
    last[253 >> 3] = 1 << (253 & 7);
    expect(mixed(name, last)).toBe(`${name.slice(0, 253)}Y\0`);
    expect(foldCase(mixed(name, new Uint8Array(MIXING_BYTES).fill(0x3c)))).toBe(name);
  });
});
