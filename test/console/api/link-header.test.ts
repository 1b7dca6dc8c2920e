// The cursor is taken out of the header as the API writes it.

import { describe, expect, it } from 'vitest';
import { nextCursor, previousCursor } from '../../../console/src/api/link-header.ts';

describe('nextCursor', () => {
  it('is the cursor of the next page, decoded', () => {
    expect(nextCursor('</domains/?limit=50&cursor=a%2Bb%3D%3D&sort=name>; rel="next"')).toBe('a+b==');
    expect(nextCursor('<https://api.example/domains/?cursor=x>; rel=next')).toBe('x');
  });

  it('is absent on the last page, and where the link is another one', () => {
    expect(nextCursor(null)).toBeUndefined();
    expect(nextCursor('')).toBeUndefined();
    expect(nextCursor('</domains/?cursor=x>; rel="prev"')).toBeUndefined();
    expect(nextCursor('</domains/>; rel="next"')).toBeUndefined();
    expect(nextCursor('</domains/?limit=1>; rel="next"')).toBeUndefined();
  });
});

it('the page before is told beside the next one, or alone', () => {
  const both = '</domains/?cursor=a>; rel="next", </domains/?limit=5&cursor=b>; rel="prev"';
  expect([nextCursor(both), previousCursor(both)]).toEqual(['a', 'b']);
  const last = '</domains/?cursor=b>; rel="prev"';
  expect([nextCursor(last), previousCursor(last)]).toEqual([undefined, 'b']);
  expect(previousCursor(null)).toBeUndefined();
});
