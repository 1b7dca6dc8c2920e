// What is true at the end of an edge's report.

import { describe, expect, it } from 'vitest';
import { type CacheWord, foldReport, isStorageHostOf } from '../../../src/features/cache/rules.ts';

const AT = '2026-01-01T00:00:00Z';
const stored = (key_hash: string, host = 'www.a.test') =>
  ({ op: 'stored', host, key_hash, cached_at: AT }) as Extract<CacheWord, { op: 'stored' }>;
const evicted = (key_hash: string, domain_id = 1): CacheWord => ({
  op: 'evicted',
  domain_id,
  key_hash,
  at: AT,
});
const DOMAINS: Record<string, number> = { 'www.a.test': 1, 'www.b.test': 2 };
const fold = (...words: CacheWord[]) => {
  const folded = foldReport(words, (host) => DOMAINS[host]);
  const names = (list: readonly { domain_id: number; key_hash: string }[]) =>
    list.map(({ domain_id, key_hash }) => `${domain_id} ${key_hash}`);
  return { ...folded, evicted: names(folded.evicted), stored: names(folded.stored) };
};

describe('a report', () => {
  it('counts of one entry the last word, each domain for itself', () => {
    const { stored: kept, evicted: gone } = fold(
      stored('x'),
      evicted('x'),
      evicted('y'),
      stored('y'),
      stored('x', 'www.b.test'),
    );
    expect([kept, gone]).toEqual([['1 y', '2 x'], ['1 x']]);
  });

  it('forgets what stood before a restart, and of a domain before it was cleared', () => {
    const cleared: CacheWord = { op: 'cleared', domain_id: 1, at: AT };
    const some = fold(stored('x'), stored('x', 'www.b.test'), cleared, stored('z'));
    expect([some.stored, [...some.cleared.keys()]]).toEqual([['2 x', '1 z'], [1]]);
    const none = fold(stored('x'), cleared, evicted('y'), { op: 'restarted', at: AT });
    expect(none).toMatchObject({ stored: [], evicted: [], restartedAt: AT });
    expect(none.cleared.size).toBe(0);
  });

  it('counts hosts that the edge does not serve', () => {
    expect(fold(stored('x', 'www.c.test'), stored('y'))).toMatchObject({ foreign: 1, stored: ['1 y'] });
  });
});

it('a host is stored under itself or a wildcard above it', () => {
  expect(isStorageHostOf('www.a.test', 'www.a.test')).toBe(true);
  expect(isStorageHostOf('*.a.test', 'x.www.a.test')).toBe(true);
  for (const hostname of ['*.b.test', '*.www.a.test', 'a.test', '*.t'])
    expect([hostname, isStorageHostOf(hostname, 'www.a.test')]).toEqual([hostname, false]);
});
