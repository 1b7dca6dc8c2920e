// What is exported opens in a spreadsheet as text: no cell is a formula, none breaks out of its place.

import { describe, expect, it } from 'vitest';
import { csvOf, exportText } from '../../../../console/src/screens/domains/export-names.ts';

describe('csvOf', () => {
  it('quotes commas and quotes, and ends lines in CRLF', () => {
    expect(
      csvOf([
        ['a', 'b,c', 'd "e"'],
        [1, undefined, ''],
      ]),
    ).toBe('a,"b,c","d ""e"""\r\n1,,\r\n');
  });

  it('makes no formula', () => {
    for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)', '|cmd', '%x', ' =1', '\t=1']) {
      const [cell = ''] = csvOf([[formula]]).split('\r\n');
      expect(cell).toMatch(/^"?'/);
    }
    expect(csvOf([['=HYPERLINK("http://evil.example","x")']])).toBe(
      `"'=HYPERLINK(""http://evil.example"",""x"")"\r\n`,
    );
  });

  it('keeps a cell on its line', () => {
    expect(csvOf([['a\nb\r\nc\td']])).toBe('a b c d\r\n');
  });
});

describe('exportText', () => {
  it('is tab-separated on wish', () => {
    expect(
      exportText('tsv', [
        ['a', 'b,c'],
        ['=x', 2],
      ]),
    ).toBe("a\tb,c\n'=x\t2\n");
  });
});
