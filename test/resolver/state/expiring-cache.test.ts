import { describe, expect, it } from 'vitest';
import { ExpiringCache } from '../../../src/resolver/state/expiring-cache.ts';

describe('an entry', () => {
  it('is there until it expires, and its last value after that', () => {
    const cache = new ExpiringCache<string>(10);
    cache.set('a', 'one', 100);
    expect(cache.get('a', 99)).toBe('one');
    expect(cache.get('a', 100)).toBe(undefined);
    expect(cache.last('a')).toEqual({ value: 'one', expiresAt: 100 });
    cache.set('a', 'two', 200);
    expect(cache.get('a', 100)).toBe('two');
    cache.delete('a');
    expect(cache.last('a')).toBe(undefined);
  });

  it('stays while it is used, and goes when its place is needed', () => {
    const cache = new ExpiringCache<number>(10);
    cache.set('used', 1, 100);
    cache.set('unused', 2, 100);
    for (let i = 0; i < 50; i++) {
      cache.set(`other ${i}`, i, 100);
      expect(cache.get('used', 0)).toBe(1);
      expect(cache.size).toBeLessThanOrEqual(10);
    }
    expect(cache.get('unused', 0)).toBe(undefined);
    expect(cache.get('other 49', 0)).toBe(49);
  });

  it('is deleted from wherever it is', () => {
    const cache = new ExpiringCache<number>(4);
    cache.set('a', 1, 100);
    for (const key of ['b', 'c']) cache.set(key, 2, 100);
    cache.delete('a');
    expect(cache.get('a', 0)).toBe(undefined);
  });
});
