// Joins blocks of output lines with an empty line between them. Blocks without lines are omitted.

export function joinBlocks(blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Indents the lines of a table, to print it below the heading of a block. */
export function indentTable(table: string): string[] {
  return table.split('\n').map((line) => `  ${line}`);
}
