// Output for people in blocks of lines with an empty line between them; a block without lines is left out.

export function joinBlocks(blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** The lines of a table, as they stand under the head of a block. */
export function indentTable(table: string): string[] {
  return table.split('\n').map((line) => `  ${line}`);
}
