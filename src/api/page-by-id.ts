// Logs: whole, read page by page while they are sent, or one page with a `Link` to the next. A cursor is the id of the
// last item on the page before.

import { PAGE_QUERY } from './paging.ts';
import { invalid, type Problem } from './problem.ts';
import { StreamedArray } from './stream-array.ts';

/** To be spread into the query schema, beside `after`. */
export const LOG_QUERY = { limit: PAGE_QUERY.limit, cursor: PAGE_QUERY.cursor };

/** A change can have 10,000 records: few at a time. */
const STREAMED_AT_ONCE = 20;

interface Ask {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface Log<T, P> {
  /** So many items behind the one with that id, or the first ones. */
  readonly load: (behind: number | undefined, limit: number) => Promise<readonly T[]>;
  readonly idOf: (item: T) => number;
  /** The items of one page as they are sent. */
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
