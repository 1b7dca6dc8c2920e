import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { groupOf, readWordGroups } from '../../../src/resolver/scan/read-words.ts';

const WORDS = new URL('../../../src/resolver/scan/words/', import.meta.url);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'words-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Reads a file outside of the folder of the lists, so by its path from there. */
function read(...lines: string[]) {
  writeFileSync(join(directory, 'list.txt'), lines.join('\n'));
  const file = join(relative(fileURLToPath(WORDS), directory), 'list');
  return readWordGroups(file, ['names'], ['signs']);
}

describe('a word list', () => {
  it('has groups and their words in the order of the file', () => {
    const groups = read(
      '# a head',
      '',
      '[b]',
      'names: www _tcp',
      '  hs1-% a.b',
      'signs: x',
      '[a c]',
      'names: z',
    );
    expect(groups).toEqual([
      { head: 'b', names: ['www', '_tcp', 'hs1-%', 'a.b'], signs: ['x'] },
      { head: 'a c', names: ['z'], signs: [] },
    ]);
    expect(groupOf(groups, 'a c').names).toEqual(['z']);
    expect(() => groupOf(groups, 'd')).toThrow('no group "d"');
  });

  it.each([
    ['a word before any group', ['names: www']],
    ['a line without a field', ['[a]', '  www']],
    ['a line that is not indented', ['[a]', 'names: www', 'mail']],
    ['two spaces between words', ['[a]', 'names: www  mail']],
    ['a space at the end', ['[a]', 'names: www ']],
    ['a tab', ['[a]', 'names: www\tmail']],
    ['a field without words', ['[a]', 'names:']],
    ['an unknown field', ['[a]', 'names: www', 'others: x']],
    ['a field twice', ['[a]', 'names: www', 'names: mail']],
    ['a group twice', ['[a]', 'names: www', '[a]', 'names: mail']],
    ['a group without a field that it needs', ['[a]', 'signs: x']],
    ['a word twice', ['[a]', 'names: www mail', '  www']],
    ['upper case', ['[a]', 'names: WWW']],
    ['an empty label', ['[a]', 'names: a..b']],
    ['a comment behind words', ['[a]', 'names: www # the web']],
  ])('with %s is refused', (_, lines) => {
    expect(() => read(...lines)).toThrow(RangeError);
  });

  it.each(readdirSync(WORDS))('says in its first line what it is: %s', (file) => {
    expect(readFileSync(new URL(file, WORDS), 'utf8')).toMatch(/^# [A-Z]/);
  });
});
