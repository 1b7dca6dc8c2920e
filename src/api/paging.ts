// Pages of a list: what callers ask with, and the `Link` that leads to the next page. Cursors are the store's.

import { z } from 'zod';
import { booleanText, integerText } from './schemas/query-text.ts';

export const MAX_PAGE_ITEMS = 1000;

/** To be spread into the query schema of a list. */
export const PAGE_QUERY = {
  limit: integerText(1, MAX_PAGE_ITEMS)
    .optional()
    .describe('At most so many items, with a `Link` to the next page. Without it the list is whole.'),
  cursor: z.string().min(1).max(2048).optional().describe('From the `Link` of the page before.'),
  offset: integerText(0, 2 ** 31 - 1)
    .optional()
    .describe('Leaves out so many items; a cursor is the better way through a list that changes.'),
  count: booleanText.optional().describe('`true`: `X-Total-Count` tells how many items there are in all.'),
};

/** The value of `Link`: the same question, from the cursor on. */
export function linkToNext(url: string, cursor: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.delete('offset');
  parameters.set('cursor', cursor);
  return `<${path}?${parameters}>; rel="next"`;
}
