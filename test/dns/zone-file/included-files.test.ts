// Files that include others are in parse-zone-file.test.ts.

import { expect, it } from 'vitest';
import { type FileChain, IncludedFiles } from '../../../src/dns/zone-file/included-files.ts';

const TOP: FileChain = { file: undefined, includedBy: undefined };

it('reads what the path names without its escapes', () => {
  const files = new IncludedFiles((path) => `; ${path}`);
  expect(files.read('my\\032zone\\.inc', TOP)).toEqual({ file: 'my zone.inc', text: '; my zone.inc' });
});

it('takes escapes as octets of UTF-8, and refuses what no file is named', () => {
  const files = new IncludedFiles((path) => path);
  expect(files.read('f\\195\\188r.inc', TOP)?.file).toBe('für.inc');
  expect(files.read('für-😀.inc', TOP)?.file).toBe('für-😀.inc');
  expect(() => files.read('nul\\000.inc', TOP)).toThrow('control characters');
  expect(() => files.read('\\027[31mred.inc', TOP)).toThrow('control characters');
  expect(() => files.read('', TOP)).toThrow('$INCLUDE names no file');
});

it('refuses a file that leads back to itself, and tells why another cannot be read', () => {
  const files = new IncludedFiles((path) => ({ error: `${path} is away` }));
  const inner: FileChain = { file: 'b', includedBy: { file: 'a', includedBy: TOP } };
  expect(() => files.read('a', inner)).toThrow('"a" includes itself');
  expect(() => files.read('c', inner)).toThrow('c is away');
});

it('tells a limit once, and reads nothing beyond it', () => {
  const files = new IncludedFiles(() => '');
  let deep = TOP;
  for (let i = 0; i < 16; i++) deep = { file: `f${i}`, includedBy: deep };
  expect(() => files.read('g', deep)).toThrow('more than 16 deep');
  expect(files.read('g', deep)).toBeUndefined();
  expect(() => files.read('f3', deep)).toThrow('"f3" includes itself');
  expect(files.read('f3', deep)).toBeUndefined();
  expect(() => files.read('f4', deep)).toThrow('"f4" includes itself');
  for (let i = 0; i < 1000; i++) expect(files.read('h', TOP)).toBeDefined();
  expect(() => files.read('h', TOP)).toThrow('more than 1000 files');
  expect(files.read('i', TOP)).toBeUndefined();
});

it('reads none where that is not allowed', () => {
  expect(() => new IncludedFiles(undefined).read('a', TOP)).toThrow('$INCLUDE is not allowed here');
});

it('counts the characters of all, and says so with the one that is too much', () => {
  const files = new IncludedFiles(() => 'x'.repeat(50 * 2 ** 20));
  files.read('a', TOP);
  files.read('b', TOP);
  expect(() => files.read('c', TOP)).toThrow('characters are included in all');
});
