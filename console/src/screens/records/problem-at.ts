// Finds the problem of a part of the destination.

import type { RowProblem } from './batch.ts';

/** `part` is undefined for the whole destination. */
export function problemAt(problems: readonly RowProblem[], part: string | undefined): string | undefined {
  return problems.find((problem) => problem.field === 'destination' && problem.part === part)?.message;
}
