import { describe, expect, it } from 'vitest';
import { stateOf, wishOf } from '../../../../console/src/screens/cache/purge.ts';

describe('the target of a purge', () => {
  it('is the whole cache only if the user selected it', () => {
    expect(wishOf('all', 'left over')).toBeUndefined();
    expect(wishOf('host', '')).toEqual({ host: '' });
    expect(wishOf('url', ' ')).toEqual({ url: '' });
  });

  it('may be an address without a scheme', () => {
    expect(wishOf('url', ' www.shop.example/a?x=1 ')).toEqual({ url: 'https://www.shop.example/a?x=1' });
    expect(wishOf('prefix', 'http://www.shop.example/img/')).toEqual({
      prefix: 'http://www.shop.example/img/',
    });
  });
});

describe('a purge', () => {
  const purge = { edges: 2, done: 1, finished: false };
  const done = { live: true, done_at: '2026-11-28T12:00:00.000Z' };

  it('is in progress while a reachable edge has not finished', () => {
    expect(stateOf({ ...purge, nodes: [done, { live: true }, { live: false }] })).toBe('going');
    expect(stateOf({ ...purge, nodes: [] })).toBe('going');
  });

  it('waits if only silent edges are left', () => {
    expect(stateOf({ ...purge, nodes: [done, { live: false }] })).toBe('silent');
  });

  it('is done, or replaced by a later one', () => {
    expect(stateOf({ ...purge, finished: true, nodes: [done] })).toBe('done');
    expect(stateOf({ ...purge, replaced_by: 9, nodes: [done, { live: true }] })).toBe('replaced');
  });
});
