// The next page, from the `Link` of this one.

import { describe, expect, it } from 'vitest';
import { nextCursor } from '../../../../console/src/screens/history/next-cursor.ts';

describe('the next cursor', () => {
  it.each([
    [null, undefined],
    ['', undefined],
    ['</domains/a/changes?limit=2&cursor=abc%3D>; rel="next"', 'abc='],
    ['</a?cursor=1>; rel="prev", </a?x=1,2&cursor=2>; rel="next"', '2'],
    ['</a?cursor=1>; rel="prev"', undefined],
    ['</a>; rel="next"', undefined],
  ])('of %s is %s', (link, cursor) => {
    expect(nextCursor(link)).toBe(cursor);
  });
});
