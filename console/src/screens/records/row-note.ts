// The message below a row: its errors, or else its warnings.

import { records } from '../../words/records.ts';
import type { RowProblem } from './batch.ts';
import type { Conflict } from './conflicts.ts';

export interface RowNote {
  readonly tone: 'bad' | 'warn';
  readonly messages: readonly string[];
}

interface Noted {
  readonly problems: readonly RowProblem[] | undefined;
  readonly warnings: readonly string[] | undefined;
  readonly conflict: Conflict | undefined;
}

export function noteOf({ problems = [], warnings = [], conflict }: Noted): RowNote | undefined {
  const { conflictDeleted, conflictChanged } = records;
  const errors = problems.map(({ message }) => message);
  if (conflict !== undefined) errors.push(conflict.kind === 'deleted' ? conflictDeleted : conflictChanged);
  if (errors.length > 0) return { tone: 'bad', messages: errors };
  return warnings.length > 0 ? { tone: 'warn', messages: warnings } : undefined;
}
