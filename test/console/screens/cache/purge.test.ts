import { describe, expect, it } from 'vitest';
import { stateOf, wishOf } from '../../../../console/src/screens/cache/purge.ts';

describe('what a purge takes away', () => {
  it('is everything only where that was chosen', () => {
    expect(wishOf('all', 'left over')).toBeUndefined();
    expect(wishOf('host', '')).toEqual({ host: '' });
    expect(wishOf('url', ' ')).toEqual({ url: '' });
  });

  it('is an address also without a scheme', () => {
    expect(wishOf('url', ' www.shop.example/a?x=1 ')).toEqual({ url: 'https://www.shop.example/a?x=1' });
    expect(wishOf('prefix', 'http://www.shop.example/img/')).toEqual({
      prefix: 'http://www.shop.example/img/',
    });
  });
});

describe('a purge', () => {
  const purge = { edges: 2, done: 1, finished: false };
  const done = { live: true, done_at: '2026-11-28T12:00:00.000Z' };

  it('goes on while an edge that is heard has not done it', () => {
    expect(stateOf({ ...purge, nodes: [done, { live: true }, { live: false }] })).toBe('going');
    expect(stateOf({ ...purge, nodes: [] })).toBe('going');
  });

  it('waits where only silent edges are left', () => {
    expect(stateOf({ ...purge, nodes: [done, { live: false }] })).toBe('silent');
  });

  it('is done, or has given way to a later one', () => {
    expect(stateOf({ ...purge, finished: true, nodes: [done] })).toBe('done');
    expect(stateOf({ ...purge, replaced_by: 9, nodes: [done, { live: true }] })).toBe('replaced');
  });
});
