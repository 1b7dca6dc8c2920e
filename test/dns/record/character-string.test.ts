import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextError } from '../../../src/dns/errors.ts';
import {
  parseCharacterString,
  printCharacterString,
  printWord,
} from '../../../src/dns/record/character-string.ts';

const of = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));

describe('a character-string', () => {
  it.each([
    ['plain', 'plain'],
    ['a\\"b\\\\c\\;', 'a"b\\c;'],
    ['\\000\\032\\255', '\x00 \xff'],
    ['ü', '\xc3\xbc'],
    ['\\065🧥\\066', 'A\xf0\x9f\xa7\xa5B'],
    ['', ''],
  ])('%s is read', (text, octets) => {
    expect(parseCharacterString(text)).toEqual(of(octets));
  });

  it.each(['\\', 'a\\25', '\\256', '\\ü', '\ud800', '\\065\udc00'])('%j is refused', (text) => {
    expect(() => parseCharacterString(text)).toThrow(TextError);
  });

  it('comes back from quotes and from a bare word as it was, in ASCII without line breaks', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
        const quoted = printCharacterString(octets);
        expect(quoted).toMatch(/^"[\x20-\x7e]*"$/);
        expect(parseCharacterString(quoted.slice(1, -1))).toEqual(octets);
        const word = printWord(octets);
        expect(word).toMatch(/^[\x21-\x7e]*$/);
        expect(word.replaceAll(/\\./g, '')).not.toMatch(/["();]/);
        expect(parseCharacterString(word)).toEqual(octets);
      }),
    );
  });
});
