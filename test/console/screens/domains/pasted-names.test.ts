// Names are found in what people paste, and what is no name is told with its line.

import { describe, expect, it } from 'vitest';
import { nameIn, parsePastedNames } from '../../../../console/src/screens/domains/pasted-names.ts';

const names = (text: string) =>
  parsePastedNames(text)
    .filter(({ problem }) => problem === undefined)
    .map(({ name }) => name);
const problems = (text: string) =>
  parsePastedNames(text)
    .filter(({ problem }) => problem !== undefined)
    .map(({ line, problem }) => [line, problem]);

describe('parsePastedNames', () => {
  it('takes lines, commas, tabs and spaces', () => {
    expect(names('a.example\r\nb.example, c.example;d.example\te.example  f.example')).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((label) => `${label}.example`),
    );
    expect(names('"a.example","b.example"\n')).toEqual(['a.example', 'b.example']);
    expect(parsePastedNames(' \n\n # a comment.example\n')).toEqual([]);
  });

  it('tells each name once', () => {
    expect(names('A.example\na.example.\nhttps://a.example/')).toEqual(['a.example']);
    expect(problems('A.example\na.example.\nhttps://a.example/')).toEqual([
      [2, 'twice'],
      [3, 'twice'],
    ]);
  });

  it('tells what is no name, and where', () => {
    expect(problems('localhost\nann@shop.example\na..example\nsho!p.example\n""')).toEqual([
      [1, 'single-label'],
      [2, 'email'],
      [3, 'characters'],
      [4, 'characters'],
      [5, 'empty'],
    ]);
    expect(problems(`${'a'.repeat(64)}.example`)).toEqual([[1, 'too-long']]);
    expect(problems(`${'a.'.repeat(130)}example`)).toEqual([[1, 'too-long']]);
    expect(problems('<script>alert(1)</script>.example')).toHaveLength(1);
  });

  it('leaves letters of every script to the API', () => {
    expect(names('müller.example пример.example 例え。テスト _dmarc.a.example')).toEqual([
      'müller.example',
      'пример.example',
      '例え.テスト',
      '_dmarc.a.example',
    ]);
  });
});

describe('nameIn', () => {
  it('is the host of an address', () => {
    expect(nameIn('"https://Shop.Example.:8443/cart?x#y"')).toBe('shop.example');
    expect(nameIn('<http://shop.example>')).toBe('shop.example');
    expect(nameIn('shop.example.')).toBe('shop.example');
  });
});
