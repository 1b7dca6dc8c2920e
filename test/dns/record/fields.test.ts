import { describe, expect, it } from 'vitest';
import {
  base64,
  characterString,
  checked,
  encodeNumber,
  hex,
  numberOrMnemonic,
  u8,
  u32,
} from '../../../src/dns/record/fields.ts';
import { TokenReader } from '../../../src/dns/record/token-reader.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';

const reader = (...texts: string[]) =>
  new TokenReader(
    texts.map((text, i) => ({ text, quoted: false, line: 1, column: 1 + i })),
    undefined,
  );

describe('numbers', () => {
  it.each([
    ['0', 0],
    ['007', 7],
    ['4294967295', 4294967295],
  ])('%s is read', (text, value) => {
    expect(u32.parse(reader(text))).toBe(value);
    expect(u32.decode(new WireReader(u32.encode(value)))).toBe(value);
  });

  it.each([
    '',
    '-1',
    '+1',
    '1.0',
    '0x1',
    '1e1',
    '256',
    '99999999999999999999',
    '٣',
    ' 1',
  ])('%j is refused', (text) => {
    expect(() => u8.parse(reader(text))).toThrow('is not a number from 0 to 255');
  });

  it('are written in network order', () => {
    expect(encodeNumber(0xfedcba98, 4)).toEqual(Uint8Array.of(0xfe, 0xdc, 0xba, 0x98));
    expect(encodeNumber(1, 2)).toEqual(Uint8Array.of(0, 1));
  });

  it('may have mnemonics in any case, and inherited words are none', () => {
    const field = numberOrMnemonic(u8, { RSASHA1: 5 });
    expect(field.parse(reader('rsaSHA1'))).toBe(5);
    expect(field.parse(reader('5'))).toBe(5);
    expect(field.print(5)).toBe('5');
    expect(() => field.parse(reader('constructor'))).toThrow('not a number');
    expect(() => field.parse(reader('rſasha1'))).toThrow('not a number');
  });
});

describe('encoded octets', () => {
  it('may be split by spaces', () => {
    expect(hex.parse(reader('0', '1a', 'B'))).toEqual(Uint8Array.of(0x01, 0xab));
    expect(base64.parse(reader('AQ', 'ID'))).toEqual(Uint8Array.of(1, 2, 3));
  });

  it('are at least one', () => {
    expect(() => hex.parse(reader())).toThrow('missing');
    expect(() => base64.decode(new WireReader(new Uint8Array(0)))).toThrow('missing');
  });
});

describe('character-strings', () => {
  it('have at most 255 octets, counted after escapes and as UTF-8', () => {
    expect(characterString.parse(reader('\\255'.repeat(255)))).toHaveLength(255);
    expect(characterString.parse(reader('ü'.repeat(127)))).toHaveLength(254);
    expect(() => characterString.parse(reader('ü'.repeat(128)))).toThrow('256 octets, more than 255');
  });
});

describe('a checked field', () => {
  const even = checked(u8, (value) => (value % 2 === 0 ? undefined : 'it is odd'));

  it('is judged in text and on the wire', () => {
    expect(even.parse(reader('2'))).toBe(2);
    expect(even.decode(new WireReader(Uint8Array.of(2)))).toBe(2);
    expect(() => even.parse(reader('1'))).toThrow('it is odd');
    expect(() => even.decode(new WireReader(Uint8Array.of(1)))).toThrow('it is odd');
  });
});
