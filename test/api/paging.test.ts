import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { linkToNext, PAGE_QUERY } from '../../src/api/paging.ts';
import { booleanText, listText, sortText } from '../../src/api/schemas/query-text.ts';

const query = z.object(PAGE_QUERY);

describe('the query of a list', () => {
  it('is text that says numbers and yes or no', () => {
    expect(query.parse({ limit: '1000', offset: '0', count: 'true', cursor: 'x' })).toEqual({
      limit: 1000,
      offset: 0,
      count: true,
      cursor: 'x',
    });
    expect(query.parse({})).toEqual({});
  });

  it.each([
    { limit: '0' },
    { limit: '1001' },
    { limit: '1e2' },
    { limit: '01' },
    { limit: '' },
    { offset: '-1' },
    { count: 'yes' },
    { cursor: '' },
  ])('is refused otherwise: %j', (wrong) => expect(query.safeParse(wrong).success).toBe(false));

  it('lists and orders by what there is', () => {
    expect(listText(['A', 'B']).parse('A, B')).toEqual(['A', 'B']);
    expect(listText(['A', 'B']).safeParse('A,C').success).toBe(false);
    expect(listText(['A', 'B']).safeParse('').success).toBe(false);
    expect(sortText(['name']).parse('-name')).toEqual({ column: 'name', descends: true });
    expect(sortText(['name']).safeParse('--name').success).toBe(false);
    expect(booleanText.parse('false')).toBe(false);
  });
});

describe('the link to the next page', () => {
  it('asks the same from the cursor on', () => {
    expect(linkToNext('/domains/?limit=2&search=a%26b&offset=4&cursor=old', 'ne w+')).toBe(
      '</domains/?limit=2&search=a%26b&cursor=ne+w%2B>; rel="next"',
    );
    expect(linkToNext('/domains/', 'c')).toBe('</domains/?cursor=c>; rel="next"');
  });
});
