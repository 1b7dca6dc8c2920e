// Converts the list of domains to a file for spreadsheets. Text that looks like a formula is quoted, as in copied tables.

import { plainCell, tsvOf } from '../../parts/tsv.ts';

export type ExportFormat = 'csv' | 'tsv';
type Cells = readonly (string | number | undefined)[];

export function exportText(format: ExportFormat, lines: readonly Cells[]): string {
  return format === 'tsv' ? `${tsvOf(lines)}\n` : csvOf(lines);
}

/** RFC 4180: lines end in CRLF, and quotes inside quotes are doubled. */
export function csvOf(lines: readonly Cells[]): string {
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

function csvCell(value: string | number | undefined): string {
  const text = plainCell(value);
  return /[",]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
