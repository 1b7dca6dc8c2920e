import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextError } from '../../../src/dns/errors.ts';
import {
  parseBase32Hex,
  parseBase64,
  parseHex,
  printBase32Hex,
  printBase64,
  printHex,
} from '../../../src/dns/record/base-encodings.ts';

it('octets come back from base 16, 64 and 32 as they were', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (octets) => {
      expect(parseHex(printHex(octets))).toEqual(octets);
      expect(parseHex(printHex(octets).toLowerCase())).toEqual(octets);
      expect(parseBase64(printBase64(octets))).toEqual(octets);
      expect(parseBase32Hex(printBase32Hex(octets))).toEqual(octets);
      expect(parseBase32Hex(printBase32Hex(octets).toLowerCase())).toEqual(octets);
    }),
  );
});

describe('text that Buffer would take in silence is refused', () => {
  it.each(['A', 'ABC', 'AG', '0x', 'A B', 'zz', 'é0'])('hex %s', (text) => {
    expect(() => parseHex(text)).toThrow(TextError);
  });

  it.each(
    'A|AA|AAA|AAAAA|AB==|AAB=|AA=A|=AAA|AA==AA==|AA-_|AA!A|AA A|AA==='.split('|'),
  )('base64 %s', (text) => {
    expect(() => parseBase64(text)).toThrow(TextError);
  });

  it.each(['0', '01', '000', '0W', '00======', '000000', 'é0', '0ı', 'ſ0'])('base32hex %s', (text) => {
    expect(() => parseBase32Hex(text)).toThrow(TextError);
  });
});

it('the test vectors of RFC 4648 §10 hold', () => {
  const of = (text: string) => Uint8Array.from(Buffer.from(text));
  const vectors = ['', 'CO', 'CPNG', 'CPNMU', 'CPNMUOG', 'CPNMUOJ1', 'CPNMUOJ1E8'];
  for (const [length, text] of vectors.entries()) {
    expect(printBase32Hex(of('foobar'.slice(0, length)))).toBe(text);
    expect(parseBase32Hex(text)).toEqual(of('foobar'.slice(0, length)));
  }
  expect(printBase64(of('fooba'))).toBe('Zm9vYmE=');
  expect(printHex(of('foobar'))).toBe('666F6F626172');
});
