// Which problem belongs to which box of the destination.

import type { RowProblem } from './batch.ts';

/** `part`: undefined is the destination as a whole. */
export function problemAt(problems: readonly RowProblem[], part: string | undefined): string | undefined {
  return problems.find((problem) => problem.field === 'destination' && problem.part === part)?.message;
}
