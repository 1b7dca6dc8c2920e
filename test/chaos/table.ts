// The table that the chaos suite ends with, and whether all in it is as wanted.

import type { Figure, Scenario } from './scenario.ts';
import type { Seen } from './witness.ts';

export type Row =
  | {
      readonly scenario: Scenario;
      readonly outcome: 'seen';
      readonly seen: Seen;
      readonly figures: readonly Figure[];
    }
  | { readonly scenario: Scenario; readonly outcome: 'skipped' | 'broken'; readonly why: string };

const COLUMNS = [
  'scenario',
  'asked',
  'lost',
  'wrong',
  'worst answer',
  'reads failed',
  'worst read',
  'edits acknowledged',
  'refused',
  'lost',
  'seconds to recover',
  'beside',
] as const;

export function printTable(rows: readonly Row[]): { text: string; isAllMet: boolean } {
  const lines = [COLUMNS.map(String), COLUMNS.map(() => '---'), ...rows.map(printRow)];
  const text = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return { text, isAllMet: rows.every(isMet) };
}

export function printRow(row: Row): string[] {
  if (row.outcome !== 'seen') {
    return [row.scenario.name, ...COLUMNS.slice(2).map(() => ''), `${row.outcome}: ${row.why}`];
  }
  const { seen, figures, scenario } = row;
  return [
    scenario.name,
    String(seen.asked),
    String(seen.lost),
    String(seen.wrong),
    `${Math.round(seen.worstDnsMs)} ms`,
    `${seen.readsFailed} of ${seen.reads}`,
    `${Math.round(seen.worstReadMs)} ms`,
    String(seen.editsAcknowledged),
    String(seen.editsRefused),
    String(seen.editsLost),
    seen.recoverySeconds === undefined ? 'never' : seen.recoverySeconds.toFixed(1),
    figures.map(({ label, text, isMet }) => `${label}: ${text}${isMet ? '' : ' (not met)'}`).join('; '),
  ];
}

/** No wrong answer, no lost edit, it recovers, and its own figures hold. */
function isMet(row: Row): boolean {
  if (row.outcome !== 'seen') return row.outcome === 'skipped';
  const { seen, figures, scenario } = row;
  if (seen.wrong > 0 || seen.editsLost > 0 || seen.recoverySeconds === undefined) return false;
  if (seen.editsRefused > 0 && scenario.stopsEdits !== true) return false;
  return seen.editsAcknowledged > 0 && figures.every((figure) => figure.isMet);
}
