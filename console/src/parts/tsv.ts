// Tab-separated values for a spreadsheet. A cell that a spreadsheet may take as a formula is prefixed with an apostrophe, because
// the text may come from a third party. Spreadsheets remove quotes around a pasted cell and ignore invisible characters, so a
// formula may follow both. Some treat full-width signs of East Asian keyboards as formula signs.

const FORMULA = /^[\s"\p{Cf}]*[=+\-@|%＝＋－＠]/u;

export function tsvOf(lines: readonly (readonly (string | number | undefined)[])[]): string {
  return lines.map((cells) => cells.map(cellOf).join('\t')).join('\n');
}

/** Returns one line that is not a formula. */
export function plainCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const line = value.replaceAll(/[\t\r\n]+/g, ' ');
  return FORMULA.test(line) ? `'${line}` : line;
}

/** A leading quote would be taken as a quote around the cell. */
function cellOf(value: string | number | undefined): string {
  const text = plainCell(value);
  return text.startsWith('"') ? `"${text.replaceAll('"', '""')}"` : text;
}
