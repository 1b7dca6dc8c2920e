// Answers lists: complete ones, read page by page while they are sent, or one page with a `Link` to the next. The
// cursor of a log is the id of the last item of the previous page. The store makes the cursors of other lists.

import { setImmediate } from 'node:timers/promises';
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
    .describe(
      'Maximum number of items. The response has a `Link` to the next page. Default: the complete list.',
    ),
  cursor: z.string().min(1).max(2048).optional().describe('Cursor from the `Link` of the previous page.'),
  offset: integerText(0, 2 ** 31 - 1)
    .optional()
    .describe('Number of items to skip. For a list that changes, use a cursor instead.'),
  count: booleanText
    .optional()
    .describe(
      'If true, `X-Total-Count` contains the total number of items. For logs, accounts, clients and services, 10001 means more than 10,000.',
    ),
};

/** Members of the query schema of a log, whose ids are in order of time. */
export function logQuery(first: 'newest' | 'oldest') {
  return {
    after: integerText(0, Number.MAX_SAFE_INTEGER).optional().describe('Only items with a higher id.'),
    sort: sortText(['id'])
      .optional()
      .describe(`\`-id\` sorts in descending order. Default: the ${first} first.`),
    ...PAGE_QUERY,
  };
}

/** A page whose items need not be an array. */
type PageOf<I> = Omit<Paged<unknown>, 'items'> & { readonly items: I };

interface PagedList<I, P> {
  /** Throws `CursorError`. */
  readonly load: (page: Page) => Promise<PageOf<I>>;
  /** Only for lists whose query has `count`. */
  readonly count?: () => Promise<number>;
  /** Number of items per read while the complete list is sent. */
  readonly readAtOnce?: number;
  /** Prints the items of one page. Texts are not validated by the schema, whatever `limit` is. */
  readonly print: (items: I) => Promise<P[] | JsonTexts>;
}

type PageQuery = { [K in keyof typeof PAGE_QUERY]?: z.output<(typeof PAGE_QUERY)[K]> };
/** The list query of a call, and the function that sets its headers. */
export type ListCall = Pick<Call<unknown, PageQuery, unknown>, 'query' | 'url' | 'answerHeader'>;

export async function answerList<T, P, I = readonly T[]>(
  { query: { limit, cursor, offset = 0, count }, url, answerHeader }: ListCall,
  list: PagedList<I, P>,
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

/** Yields this page and all that follow. Loads the next page while a page is printed and sent, at most one page ahead. */
async function* pagesFrom<I, P>(
  first: PageOf<I>,
  { load, print, readAtOnce: limit = MAX_PAGE_ITEMS }: PagedList<I, P>,
): AsyncGenerator<readonly P[] | JsonTexts> {
  let page = first;
  for (;;) {
    const { cursor } = page;
    const next = cursor === undefined ? undefined : load({ limit, cursor });
    next?.catch(() => {}); // reported when its turn comes, unless the client has disconnected
    if (next !== undefined) await setImmediate(); // the statement is sent before the page is printed
    yield await print(page.items);
    if (next === undefined) return;
    page = await next;
  }
}

/** Returns the pages of a log. A cursor is the id of the last item, prefixed with `-` if the ids descend. */
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

/** Returns a `Link` value (RFC 8288 §3): the same request, starting at the cursor. */
function linkTo(url: string, cursor: string, rel: 'next' | 'prev'): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.delete('offset');
  parameters.set('cursor', cursor);
  return `<${path}?${parameters}>; rel="${rel}"`;
}
