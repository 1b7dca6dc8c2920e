import { describe, expect, it } from 'vitest';
import { tsvOf } from '../../../console/src/parts/tsv.ts';

/** Reads a pasted cell like a spreadsheet: a cell that begins with a quote is quoted, with inner quotes doubled. */
function pasted(cell: string): string {
  return cell.startsWith('"') && cell.endsWith('"') && cell.length > 1
    ? cell.slice(1, -1).replaceAll('""', '"')
    : cell;
}

describe('a copied table', () => {
  it.each([
    '=1+1',
    ' =1+1',
    '"=1+1"',
    '" =1+1"',
    '""=1+1""',
    '+1',
    '-1',
    '@sum(1)',
    '＝1+1',
    '＋1',
    '－1',
    '＠sum(1)',
    '\u200b=1+1',
    '"\u2066=1+1"',
  ])('contains no formula for %j', (text) => {
    expect(pasted(tsvOf([[text]]))).not.toMatch(/^[\s"\u200b\u2066]*[=+\-@＝＋－＠]/u);
  });

  it('keeps the shown text, including quotes', () => {
    for (const text of ['"v=spf1" "-all"', '"one', 'a "b" c', 'v=spf1 -all', '192.0.2.1'])
      expect(pasted(tsvOf([[text]]))).toBe(text);
  });

  it('has one cell per text, for any text', () => {
    expect(tsvOf([['a\tb\nc', 1, undefined]])).toBe('a b c\t1\t');
  });
});
