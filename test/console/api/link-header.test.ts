import { expect, it } from 'vitest';
import { nextCursor, previousCursor } from '../../../console/src/api/link-header.ts';

it.each([
  ['</domains/?limit=50&cursor=a%2Bb%3D%3D&sort=name>; rel="next"', 'a+b==', undefined],
  ['<https://api.example/domains/?cursor=x>; rel=next', 'x', undefined],
  ['</domains/?cursor=a>; rel="next", </domains/?limit=5&cursor=b>; rel="prev"', 'a', 'b'],
  ['</domains/?cursor=b>; rel="prev"', undefined, 'b'],
  ['</domains/>; rel="next"', undefined, undefined],
  ['</domains/?limit=1>; rel="next"', undefined, undefined],
  ['', undefined, undefined],
  [null, undefined, undefined],
])('the cursors of %s are %s and %s', (link, next, previous) => {
  expect([nextCursor(link), previousCursor(link)]).toEqual([next, previous]);
});
