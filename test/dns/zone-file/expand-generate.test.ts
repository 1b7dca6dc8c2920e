// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are the templates of $GENERATE
import { describe, expect, it } from 'vitest';
import { TextError } from '../../../src/dns/errors.ts';
import {
  compileRdata,
  compileTemplate,
  parseGenerateRange,
} from '../../../src/dns/zone-file/expand-generate.ts';

describe('a $GENERATE range', () => {
  it.each([
    ['1-254', { start: 1, stop: 254, step: 1, count: 254 }],
    ['0-0', { start: 0, stop: 0, step: 1, count: 1 }],
    ['0-100/4', { start: 0, stop: 100, step: 4, count: 26 }],
    ['1-10/4', { start: 1, stop: 10, step: 4, count: 3 }],
    ['0-2147483647', { start: 0, stop: 2 ** 31 - 1, step: 1, count: 2 ** 31 }],
  ])('%s counts its numbers', (text, range) => {
    expect(parseGenerateRange(text)).toEqual(range);
  });

  it.each('|1|1-|-1|2-1|1-2/0|1-2/|a-b|1-2147483648|1-2/99999999999'.split('|'))('%j is none', (text) => {
    expect(() => parseGenerateRange(text)).toThrow(TextError);
  });
});

describe('a $GENERATE template', () => {
  it.each([
    ['host-$', 7, 'host-7'],
    ['$.$', 7, '7.7'],
    ['plain', 7, 'plain'],
    ['a$$b', 7, 'a$b'],
    ['a\\$b', 7, 'a\\$b'],
    ['a\\\\$', 7, 'a\\\\7'],
    ['${0}', 7, '7'],
    ['${1}', 7, '8'],
    ['${-7}', 7, '0'],
    ['${0,3}', 7, '007'],
    ['${0,3,d}x', 1234, '1234x'],
    ['${0,4,o}', 8, '0010'],
    ['${0,4,x}', 171, '00ab'],
    ['${0,0,X}', 171, 'AB'],
    ['${0,0,n}', 0x2f, 'f.2'],
    ['${0,1,n}', 0x2f, 'f.2'],
    ['${0,5,n}', 0x2f, 'f.2.0'],
    ['${0,6,N}', 0x2f, 'F.2.0.'],
    ['${0,2,n}', 1, '1.'],
  ])('%s makes of %i: %s', (template, value, text) => {
    expect(compileTemplate(template)(value)).toBe(text);
  });

  it.each([
    ...'${|${}|${x}|${0|${0,}|${0,3,}|${0,3,q}|${0,256,d}|${0,3,d,1}'.split('|'),
    '$'.repeat(2049),
  ])('%j is none', (template) => {
    expect(() => compileTemplate(template)).toThrow(TextError);
  });

  it('does not make numbers below 0', () => {
    expect(() => compileTemplate('${-8}')(7)).toThrow(TextError);
  });
});

describe('the rdata of $GENERATE', () => {
  const word = (text: string, quoted = false) => ({ text, quoted, line: 3, column: 9 });
  const texts = (words: Parameters<typeof compileRdata>[0]) =>
    compileRdata(words)(5).map(({ text, quoted }) => (quoted ? `"${text}"` : text));

  it.each([
    [[word('10 mail$', true)], ['10', 'mail5']],
    [[word('\\"host $\\" b\\;c', true)], ['"host 5"', 'b\\;c']],
    [
      [word('$0'), word('mail $', true)],
      ['50', '"mail 5"'],
    ],
  ])('is cut into words after the number stands in it, if it is one quoted word: %j', (words, expected) => {
    expect(texts(words)).toEqual(expected);
  });

  it('keeps the place of the template, and may have no open quote', () => {
    expect(compileRdata([word('10 mail$', true)])(5)[1]).toMatchObject({ line: 3, column: 9 });
    expect(() => compileRdata([word('\\"$', true)])(5)).toThrow(TextError);
  });
});
