// Answers logs: whole, read page by page while they are sent, or one page with a `Link` to the next. The cursor is the
// id of the last item on the page before.

import { invalid, type Problem } from '../answers/problem.ts';
import { StreamedArray } from '../answers/stream-array.ts';
import { PAGE_QUERY } from './paging.ts';

/** Members of the query schema of a log, beside `after`. */
export const LOG_QUERY = { limit: PAGE_QUERY.limit, cursor: PAGE_QUERY.cursor };

/** How many changes are read at a time when streaming: a change can have 10,000 records. */
const STREAMED_AT_ONCE = 20;

interface Ask {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

interface Log<T, P> {
  /** Loads so many items after the one with that id, or the first ones. */
  readonly load: (behind: number | undefined, limit: number) => Promise<readonly T[]>;
  readonly idOf: (item: T) => number;
  /** Prints the items of one page as they are sent. */
  readonly print: (items: readonly T[]) => Promise<P[]>;
  readonly tellNext: (cursor: string) => void;
}

export async function answerLog<T, P>(
  { limit, cursor }: Ask,
  log: Log<T, P>,
): Promise<P[] | StreamedArray<P> | Problem> {
  if (cursor !== undefined && !/^[1-9][0-9]{0,14}$/.test(cursor)) {
    return invalid([{ field: 'cursor', error: 'is not one of this list' }]);
  }
  const behind = cursor === undefined ? undefined : Number(cursor);
  if (limit === undefined) return new StreamedArray(streamLog(log, behind));
  const found = await log.load(behind, limit + 1);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (found.length > limit && last !== undefined) log.tellNext(String(log.idOf(last)));
  return await log.print(page);
}

async function* streamLog<T, P>(
  { load, idOf, print }: Log<T, P>,
  from: number | undefined,
): AsyncGenerator<P> {
  for (let behind = from; ; ) {
    const page = await load(behind, STREAMED_AT_ONCE);
    yield* await print(page);
    const last = page.at(-1);
    if (last === undefined || page.length < STREAMED_AT_ONCE) return;
    behind = idOf(last);
  }
}
