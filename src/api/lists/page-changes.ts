// Answers lists of changes, of one domain or of all.

import type { z } from 'zod';
import type { Database } from '../../store/postgres/database.ts';
import type { Problem } from '../answers/problem.ts';
import type { StreamedArray } from '../answers/stream-array.ts';
import { printChanges, type SeenChange } from '../print/print-change.ts';
import type { Change } from '../schemas/change.ts';
import { integerText } from '../schemas/query-text.ts';
import { answerList, type ListCall, LOG_QUERY, pagesById } from './paging.ts';

/** A change can have 10,000 records. */
const READ_AT_ONCE = 20;

export const CHANGES_QUERY = {
  after: integerText(0, Number.MAX_SAFE_INTEGER).optional().describe('Only changes with a higher id.'),
  ...LOG_QUERY,
};

/** `load` gives so many changes after the one with that id, or the first ones. */
export function answerChanges(
  db: Database,
  call: ListCall,
  load: (behind: number | undefined, limit: number) => Promise<readonly SeenChange[]>,
): Promise<z.input<typeof Change>[] | StreamedArray<z.input<typeof Change>> | Problem> {
  return answerList(call, {
    load: pagesById<SeenChange>(load, ({ change }) => change.id),
    print: (changes) => printChanges(db, changes),
    readAtOnce: READ_AT_ONCE,
  });
}
