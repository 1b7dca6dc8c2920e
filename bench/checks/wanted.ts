// Formats a figure that should be large, with its target.

import { count } from '../report/table.ts';

export function wantedAtLeast(value: number, wanted: number | undefined): string {
  if (wanted === undefined || Number.isNaN(value)) return count(value);
  return `${count(value)} (wanted ≥ ${count(wanted)}: ${value >= wanted ? 'yes' : '**no**'})`;
}
