import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Problem } from '../../../src/api/answers/problem.ts';
import type { StreamedArray } from '../../../src/api/answers/streams.ts';
import { answerList, PAGE_QUERY, pagesById } from '../../../src/api/calls/answer-list.ts';
import { booleanText, listText, sortText } from '../../../src/api/schemas/fields.ts';
import { CursorError, type Page } from '../../../src/store/postgres/list-page.ts';

const query = z.object(PAGE_QUERY);

describe('the query of a list', () => {
  it('consists of text that represents numbers and booleans', () => {
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
  ])('is refused if it is %j', (wrong) => expect(query.safeParse(wrong).success).toBe(false));

  it('selects and sorts by existing fields', () => {
    expect(listText(['A', 'B']).parse('A, B')).toEqual(['A', 'B']);
    expect(listText(['A', 'pending']).parse('a,PENDING')).toEqual(['A', 'pending']);
    expect(listText(['A', 'B']).safeParse('A,C').success).toBe(false);
    expect(listText(['A', 'B']).safeParse('').success).toBe(false);
    expect(sortText(['name']).parse('-name')).toEqual({ column: 'name', descends: true });
    expect(sortText(['name']).safeParse('--name').success).toBe(false);
    expect(booleanText.parse('false')).toBe(false);
  });
});

describe('a list', () => {
  const NUMBERS = Array.from({ length: 2500 }, (_, i) => i);
  const pages: Page[] = [];
  const list = {
    load: async (page: Page) => {
      pages.push(page);
      if (page.cursor === 'other') throw new CursorError('of another list');
      const start = Number(page.cursor ?? 0) + (page.offset ?? 0);
      const end = start + page.limit;
      return { items: NUMBERS.slice(start, end), cursor: end < NUMBERS.length ? String(end) : undefined };
    },
    count: async () => NUMBERS.length,
    print: async (items: readonly number[]) => items.map((n) => `n${n}`),
  };
  const ask = async (query: Parameters<typeof answerList>[0]['query']) => {
    pages.length = 0;
    const headers: Record<string, unknown> = {};
    const answerHeader = (name: string, value: unknown) => {
      headers[name] = value;
    };
    return { headers, answer: await answerList({ query, url: '/numbers/', answerHeader }, list) };
  };

  it('without a limit is complete, and its pages are read while it is sent', async () => {
    const { headers, answer } = await ask({ offset: 3, count: true });
    expect(headers).toEqual({ 'X-Total-Count': 2500 });
    expect(pages).toHaveLength(1);
    const sent: string[] = [];
    for await (const page of (answer as StreamedArray<string>).pages) {
      sent.push(...(page as readonly string[]));
      if (sent.length === 1000) expect(pages).toHaveLength(2); // one page ahead
    }
    expect(sent).toEqual(NUMBERS.slice(3).map((n) => `n${n}`));
    expect(pages.map(({ cursor }) => cursor)).toEqual([undefined, '1003', '2003']);
  });

  it('with a limit is one page, with a link to the next unless it is the last', async () => {
    const first = await ask({ limit: 2 });
    expect(first.answer).toEqual(['n0', 'n1']);
    expect(first.headers).toEqual({ Link: '</numbers/?cursor=2>; rel="next"' });
    const last = await ask({ limit: 2, cursor: '2498' });
    expect(last).toEqual({ answer: ['n2498', 'n2499'], headers: {} });
  });

  it('refuses the cursor of another list', async () => {
    const { answer } = await ask({ cursor: 'other' });
    expect((answer as Problem).members.fields).toEqual([
      { field: 'cursor', error: 'does not belong to this list' },
    ]);
  });
});

describe('a log', () => {
  const reads: [behind: number | undefined, limit: number][] = [];
  /** Newest first, like the log of a domain. */
  const log = {
    load: pagesById(
      true,
      async ({ behind = 46, limit }) => {
        reads.push([behind, limit]);
        return Array.from({ length: Math.min(limit, behind - 1) }, (_, i) => ({ id: behind - 1 - i }));
      },
      ({ id }) => id,
    ),
    print: async (items: readonly { id: number }[]) => items.map(({ id }) => id),
    readAtOnce: 20,
  };
  const ask = async (query: Parameters<typeof answerList>[0]['query']) => {
    reads.length = 0;
    const links: unknown[] = [];
    const answerHeader = (_: string, value: unknown) => void links.push(value);
    return { links, answer: await answerList({ query, url: '/changes', answerHeader }, log) };
  };

  it('continues after the id of the last item', async () => {
    const first = await ask({ limit: 2 });
    expect(first).toEqual({ links: ['</changes?cursor=-44>; rel="next"'], answer: [45, 44] });
    const last = await ask({ limit: 2, cursor: '-3' });
    expect(last).toEqual({ links: [], answer: [2, 1] });
  });

  it('without a limit is read in pages of the requested size', async () => {
    const { answer } = await ask({});
    const sent: number[] = [];
    for await (const page of (answer as StreamedArray<number>).pages)
      sent.push(...(page as readonly number[]));
    expect(sent).toEqual(Array.from({ length: 45 }, (_, i) => 45 - i));
    expect(reads).toEqual([
      [46, 21],
      [26, 21],
      [6, 21],
    ]);
  });

  it.each(['-0', '1', '--1', 'x', `-${'1'.repeat(16)}`])('refuses the cursor "%s"', async (cursor) => {
    const { answer } = await ask({ cursor });
    expect((answer as Problem).members.fields).toEqual([
      { field: 'cursor', error: 'does not belong to this list' },
    ]);
    expect(reads).toEqual([]);
  });
});

describe('the link to the next page', () => {
  const linkFrom = async (url: string, cursor: string): Promise<unknown> => {
    const headers: Record<string, unknown> = {};
    const answerHeader = (name: string, value: unknown) => {
      headers[name] = value;
    };
    const list = {
      load: async () => ({ items: [1], cursor }),
      print: async (items: readonly number[]) => [...items],
    };
    await answerList({ query: { limit: 1 }, url, answerHeader }, list);
    return headers.Link;
  };

  it('repeats the request from the cursor on', async () => {
    expect(await linkFrom('/domains/?limit=2&search=a%26b&offset=4&cursor=old', 'ne w+')).toBe(
      '</domains/?limit=2&search=a%26b&cursor=ne+w%2B>; rel="next"',
    );
    expect(await linkFrom('/domains/', 'c')).toBe('</domains/?cursor=c>; rel="next"');
  });
});
