// Tab-separated values for a spreadsheet. A cell that a spreadsheet would take as a formula is quoted with an apostrophe, since
// its text may come from somebody else. Spreadsheets take quotes around a pasted cell away, and do not see what is invisible, so
// a formula may stand behind both; some take the wide signs of East Asian keyboards as the plain ones.

const FORMULA = /^[\s"\p{Cf}]*[=+\-@|%＝＋－＠]/u;

export function tsvOf(lines: readonly (readonly (string | number | undefined)[])[]): string {
  return lines.map((cells) => cells.map(cellOf).join('\t')).join('\n');
}

/** On one line, and no formula. */
export function plainCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const line = value.replaceAll(/[\t\r\n]+/g, ' ');
  return FORMULA.test(line) ? `'${line}` : line;
}

/** A quote at the beginning would be taken as one around the cell. */
function cellOf(value: string | number | undefined): string {
  const text = plainCell(value);
  return text.startsWith('"') ? `"${text.replaceAll('"', '""')}"` : text;
}
