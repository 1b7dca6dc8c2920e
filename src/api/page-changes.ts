// Lists of changes: whole, read page by page while they are sent, or one page with a `Link` to the next. A cursor is the
// id of the last change on the page before.

import type { z } from 'zod';
import type { Database } from '../store/database.ts';
import { PAGE_QUERY } from './paging.ts';
import { printChanges, type SeenChange } from './print-change.ts';
import { invalid, type Problem } from './problem.ts';
import type { Change } from './schemas/change.ts';
import { integerText } from './schemas/query-text.ts';
import { StreamedArray } from './stream-array.ts';

export const CHANGES_QUERY = {
  after: integerText(0, Number.MAX_SAFE_INTEGER).optional().describe('Only changes with a higher id.'),
  limit: PAGE_QUERY.limit,
  cursor: PAGE_QUERY.cursor,
};

/** A change can have 10,000 records: few at a time. */
const STREAMED_AT_ONCE = 20;

interface Ask {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** `load` gives so many changes behind the one with that id, or the first ones. */
export async function answerChanges(
  db: Database,
  { limit, cursor }: Ask,
  load: (behind: number | undefined, limit: number) => Promise<readonly SeenChange[]>,
  tellNext: (cursor: string) => void,
): Promise<z.input<typeof Change>[] | StreamedArray<z.input<typeof Change>> | Problem> {
  if (cursor !== undefined && !/^[1-9][0-9]{0,14}$/.test(cursor)) {
    return invalid([{ field: 'cursor', error: 'is not one of this list' }]);
  }
  const behind = cursor === undefined ? undefined : Number(cursor);
  if (limit === undefined) return new StreamedArray(streamChanges(db, load, behind));
  const found = await load(behind, limit + 1);
  const page = found.slice(0, limit);
  if (found.length > limit) tellNext(String(page.at(-1)?.change.id));
  return await printChanges(db, page);
}

async function* streamChanges(
  db: Database,
  load: (behind: number | undefined, limit: number) => Promise<readonly SeenChange[]>,
  from: number | undefined,
): AsyncGenerator<z.input<typeof Change>> {
  for (let behind = from; ; ) {
    const page = await load(behind, STREAMED_AT_ONCE);
    yield* await printChanges(db, page);
    if (page.length < STREAMED_AT_ONCE) return;
    behind = page.at(-1)?.change.id;
  }
}
