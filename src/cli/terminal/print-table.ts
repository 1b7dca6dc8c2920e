// Prints rows as aligned columns: numbers to the right, other text to the left, without trailing spaces.

export type Cell = string | number;

/** Characters that are replaced, because text from customers must not control the terminal or start a new row. */
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

export function printTable(heads: readonly string[], given: readonly (readonly Cell[])[]): string {
  const rows = given.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? cell.replaceAll(UNSHOWN, '\ufffd') : cell)),
  );
  const numeric = heads.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'),
  );
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => String(row[column]).length)),
  );
  const line = (cells: readonly Cell[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return numeric[column] ? String(cell).padStart(width) : String(cell).padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [heads, ...rows].map(line).join('\n');
}
