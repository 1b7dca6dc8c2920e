// Tab-separated values for a spreadsheet. A cell that a spreadsheet would take as a formula is quoted with an apostrophe, since
// its text may come from somebody else.

export function tsvOf(lines: readonly (readonly (string | number | undefined)[])[]): string {
  return lines.map((cells) => cells.map(cellOf).join('\t')).join('\n');
}

function cellOf(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const line = value.replaceAll(/[\t\r\n]+/g, ' ');
  return /^\s*[=+\-@|%]/.test(line) ? `'${line}` : line;
}
