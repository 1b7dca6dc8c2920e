import { expect, it } from 'vitest';
import { isGeneric, parseGeneric, printGeneric } from '../../../src/dns/record/generic-rdata.ts';
import { TokenReader } from '../../../src/dns/record/token-reader.ts';

const reader = (...texts: string[]) =>
  new TokenReader(
    texts.map((text, i) => ({ text, quoted: false, line: 1, column: 1 + i })),
    undefined,
  );

it('rdata in the form of RFC 3597 is read with its digits split anywhere', () => {
  const octets = Uint8Array.of(0x0a, 0, 0, 1);
  expect(parseGeneric(reader('\\#', '4', '0A000001'))).toEqual(octets);
  expect(parseGeneric(reader('\\#', '4', '0a0', '0000', '1'))).toEqual(octets);
  expect(parseGeneric(reader('\\#', '0'))).toEqual(new Uint8Array(0));
});

it('rdata is printed with its length, and without digits when it is empty', () => {
  expect(printGeneric(Uint8Array.of(0x0a, 0, 0, 1))).toBe('\\# 4 0A000001');
  expect(printGeneric(new Uint8Array(0))).toBe('\\# 0');
});

it.each([
  [['1', '00'], 'can only be written as'],
  [['\\#'], 'the field is missing'],
  [['\\#', '65536'], 'not a length'],
  [['\\#', '-1'], 'not a length'],
  [['\\#', '2', '00'], 'the length says 2 octets, but there are 1'],
  [['\\#', '1', '0'], 'odd'],
])('%j is refused', (texts, message) => {
  expect(() => parseGeneric(reader(...texts))).toThrow(message);
});

it('a quoted mark is text', () => {
  expect(isGeneric(reader('\\#'))).toBe(true);
  expect(isGeneric(reader())).toBe(false);
  expect(isGeneric(new TokenReader([{ text: '\\#', quoted: true, line: 1, column: 1 }], undefined))).toBe(
    false,
  );
});
