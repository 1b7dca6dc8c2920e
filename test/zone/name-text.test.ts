import { expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { asciiText, printWithoutDot, readName } from '../../src/zone/name-text.ts';
import { wordsOf } from '../support/tests/rows-of.ts';

it.each([
  ['www', 'www', false],
  ['WWW.Example.com.', 'WWW.Example.com', true],
  ['bücher.example', 'xn--bcher-kva.example', false],
  ['BÜCHER', 'xn--bcher-kva', false],
  ['straße', 'xn--strae-oqa', false],
  ['a。b．c｡', 'a.b.c', true],
  ['_dmarc', '_dmarc', false],
  ['0/25', '0/25', false],
  ['*', '*', false],
  ['a\\.b', 'a\\.b', false],
  ['a\\032b', 'a\\032b', false],
])('%s is %s', (text, ascii, absolute) => {
  expect(asciiText(text)).toEqual({ kind: 'text', text: ascii, absolute });
});

it.each(
  '|a..b|.a|a b|a!b|a*|**|a@b|⒈com|\u0300a|ü*|ü/a|a\u200db|１ ü|a\tb'.split('|'),
)('"%s" is no name', (text) => {
  expect(asciiText(text).kind).toBe('problem');
});

it.each(
  wordsOf(`
  a\\.b.example. a\\033b.example. \\*a.example. *.example. \\200.example. .`),
)('what is printed for %s is read again', (text) => {
  const name = parseName(text);
  const printed = printWithoutDot(name);
  expect(printed === '.' ? printed : asciiText(printed).kind).toBe(printed === '.' ? '.' : 'text');
  expect(readName(printed === '.' ? '.' : `${printed}.`)).toEqual({ kind: 'name', name });
});

it('bad escapes and long labels are problems, not exceptions', () => {
  expect(readName('a\\999.').kind).toBe('problem');
  expect(readName(`${'a'.repeat(64)}.`).kind).toBe('problem');
});
