// Answers lists: whole, read page by page while they are sent, or one page with a `Link` to the next. The cursor of a log is
// the id of the last item of the previous page; the store makes the cursors of other lists.

import { z } from 'zod';
import { CursorError, type LogPage, type Page, type Paged } from '../../store/postgres/list-page.ts';
import { invalid, type Problem } from '../answers/problem.ts';
import { JsonTexts, StreamedArray } from '../answers/streams.ts';
import { booleanText, integerText, sortText } from '../schemas/fields.ts';
import type { Call } from './call.ts';

const MAX_PAGE_ITEMS = 1000;

/** Members of the query schema of a list. */
export const PAGE_QUERY = {
  limit: integerText(1, MAX_PAGE_ITEMS)
    .optional()
    .describe('At most so many items, with a `Link` to the next page. Without it the list is whole.'),
  cursor: z.string().min(1).max(2048).optional().describe('From the `Link` of the page before.'),
  offset: integerText(0, 2 ** 31 - 1)
    .optional()
    .describe('Leaves out so many items; a cursor is the better way through a list that changes.'),
  count: booleanText
    .optional()
    .describe(
      '`true`: `X-Total-Count` tells how many items there are in all. Of logs, accounts, clients and services 10001 means more than 10,000.',
    ),
};

/** Members of the query schema of a log: ids are in the order of time. */
export function logQuery(first: 'newest' | 'oldest') {
  return {
    after: integerText(0, Number.MAX_SAFE_INTEGER).optional().describe('Only items with a higher id.'),
    sort: sortText(['id']).optional().describe(`\`-id\` descends. The ${first} come first unless said.`),
    ...PAGE_QUERY,
  };
}

interface PagedList<T, P> {
  /** Throws `CursorError`. */
  readonly load: (page: Page) => Promise<Paged<T>>;
  /** For lists whose query has `count`. */
  readonly count?: () => Promise<number>;
  /** How many items are read at a time while the whole list is sent. */
  readonly readAtOnce?: number;
  /** Prints the items of one page as they are sent. Texts do not go through the schema, whatever `limit` is. */
  readonly print: (items: readonly T[]) => Promise<P[] | JsonTexts>;
}

type PageQuery = { [K in keyof typeof PAGE_QUERY]?: z.output<(typeof PAGE_QUERY)[K]> };
/** What a call asks of a list, and where its headers go. */
export type ListCall = Pick<Call<unknown, PageQuery, unknown>, 'query' | 'url' | 'answerHeader'>;

export async function answerList<T, P>(
  { query: { limit, cursor, offset = 0, count }, url, answerHeader }: ListCall,
  list: PagedList<T, P>,
): Promise<P[] | StreamedArray<P> | Problem> {
  try {
    const from = { offset, ...(cursor !== undefined && { cursor }) };
    const first = await list.load({ limit: limit ?? list.readAtOnce ?? MAX_PAGE_ITEMS, ...from });
    if (count && list.count !== undefined) answerHeader('X-Total-Count', await list.count());
    if (limit === undefined) return new StreamedArray(pagesFrom(first, list));
    const links = [
      ...(first.cursor === undefined ? [] : [linkTo(url, first.cursor, 'next')]),
      ...(first.previous === undefined ? [] : [linkTo(url, first.previous, 'prev')]),
    ];
    if (links.length > 0) answerHeader('Link', links.join(', '));
    const printed = await list.print(first.items);
    return printed instanceof JsonTexts ? new StreamedArray(onePage(printed)) : printed;
  } catch (error) {
    if (!(error instanceof CursorError)) throw error;
    return invalid([{ field: 'cursor', error: 'does not belong to this list' }]);
  }
}

async function* onePage(page: JsonTexts): AsyncGenerator<JsonTexts> {
  yield page;
}

/** This page and all that follow it. */
async function* pagesFrom<T, P>(
  first: Paged<T>,
  { load, print, readAtOnce: limit = MAX_PAGE_ITEMS }: PagedList<T, P>,
): AsyncGenerator<readonly P[] | JsonTexts> {
  for (let page = first; ; page = await load({ limit, cursor: page.cursor })) {
    yield await print(page.items);
    if (page.cursor === undefined) return;
  }
}

/** The pages of a log. A cursor is the id of the last item, behind `-` when the ids descend. */
export function pagesById<T>(
  descending: boolean,
  load: (page: LogPage) => Promise<readonly T[]>,
  idOf: (item: T) => number,
): (page: Page) => Promise<Paged<T>> {
  const sign = descending ? '-' : '';
  return async ({ limit, cursor, offset = 0 }) => {
    const [, ofSign, id] = /^(-?)([1-9][0-9]{0,14})$/.exec(cursor ?? `${sign}1`) ?? [];
    if (ofSign !== sign) throw new CursorError();
    const behind = cursor === undefined ? undefined : Number(id);
    const found = await load({ behind, limit: limit + 1, offset, descending });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const isLast = found.length <= limit || last === undefined;
    return { items, cursor: isLast ? undefined : `${sign}${idOf(last)}` };
  };
}

/** For `Link` (RFC 8288 §3): the same request, from the cursor on. */
function linkTo(url: string, cursor: string, rel: 'next' | 'prev'): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.delete('offset');
  parameters.set('cursor', cursor);
  return `<${path}?${parameters}>; rel="${rel}"`;
}
