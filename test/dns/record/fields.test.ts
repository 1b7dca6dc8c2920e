import { expect, it } from 'vitest';
import { characterString, checked, numberOrMnemonic, u8, u32 } from '../../../src/dns/record/fields.ts';
import { TokenReader } from '../../../src/dns/record/token-reader.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';

const reader = (text: string) => new TokenReader([{ text, quoted: false, line: 1, column: 1 }], undefined);

it.each([
  ['0', 0],
  ['007', 7],
  ['4294967295', 4294967295],
])('the number %s is read from text and from the wire', (text, value) => {
  expect(u32.parse(reader(text))).toBe(value);
  expect(u32.decode(new WireReader(u32.encode(value)))).toBe(value);
});

it.each([
  ...'| -1|+1|1.0|0x1|1e1|256|99999999999999999999|٣| 1'.split('|'),
])('the number %j is refused', (text) => {
  expect(() => u8.parse(reader(text))).toThrow('is not a number from 0 to 255');
});

it('mnemonics are read in any case, and inherited words are refused', () => {
  const field = numberOrMnemonic(u8, { RSASHA1: 5 });
  expect([field.parse(reader('rsaSHA1')), field.parse(reader('5')), field.print(5)]).toEqual([5, 5, '5']);
  for (const text of ['constructor', 'rſasha1'])
    expect(() => field.parse(reader(text))).toThrow('not a number');
});

it('character-strings have at most 255 octets, counted after escapes and as UTF-8', () => {
  expect(characterString.parse(reader('\\255'.repeat(255)))).toHaveLength(255);
  expect(characterString.parse(reader('ü'.repeat(127)))).toHaveLength(254);
  expect(() => characterString.parse(reader('ü'.repeat(128)))).toThrow('256 octets, more than 255');
});

it('a checked field is validated in text and on the wire', () => {
  const even = checked(u8, (value) => (value % 2 === 0 ? undefined : 'it is odd'));
  expect([even.parse(reader('2')), even.decode(new WireReader(Uint8Array.of(2)))]).toEqual([2, 2]);
  expect(() => even.parse(reader('1'))).toThrow('it is odd');
  expect(() => even.decode(new WireReader(Uint8Array.of(1)))).toThrow('it is odd');
});
