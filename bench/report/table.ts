// Formats a Markdown table. Columns after the first contain figures and are right-aligned.

export type Cell = string | number;

export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

/** With thin groups of three digits: `123 456`. */
export function count(value: number): string {
  return Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en-US').replaceAll(',', ' ');
}

export function fixed(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);
}

/** Formats a figure with its limit. */
export function judged(value: number, limit: number | undefined, digits = 2): string {
  if (limit === undefined || Number.isNaN(value)) return fixed(value, digits);
  return `${fixed(value, digits)} (wanted ≤ ${fixed(limit, digits)}: ${value <= limit ? 'yes' : '**no**'})`;
}

/** Formats a ratio that should be large, with its target. */
export function atLeast(value: number, wanted: number, digits = 2): string {
  if (Number.isNaN(value)) return fixed(value, digits);
  return `${fixed(value, digits)} × (wanted ≥ ${fixed(wanted, 1)}: ${value >= wanted ? 'yes' : '**no**'})`;
}
