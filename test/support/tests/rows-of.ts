/** Splits a text table into its rows and their cells: one row per line, cells between ` | `. */
export function rowsOf(text: string): readonly [string, ...string[]][] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.split('|').map((cell) => cell.trim()) as [string, ...string[]]);
}

/** Splits a cell that lists several items. */
export const itemsOf = (cell = ''): string[] => cell.split(' / ').filter((item) => item !== '');

/** Splits a text at white space. */
export const wordsOf = (text: string): string[] => text.trim().split(/\s+/);
