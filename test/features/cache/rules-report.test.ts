// The combined result of the operations in an edge's report.

import { describe, expect, it } from 'vitest';
import { type CacheOperation, foldReport, isStorageHostOf } from '../../../src/features/cache/rules.ts';

const AT = '2026-01-01T00:00:00Z';
const stored = (key_hash: string, host = 'www.a.test') =>
  ({ op: 'stored', host, key_hash, cached_at: AT }) as Extract<CacheOperation, { op: 'stored' }>;
const evicted = (key_hash: string, domain_id = 1): CacheOperation => ({
  op: 'evicted',
  domain_id,
  key_hash,
  at: AT,
});
const DOMAINS: Record<string, number> = { 'www.a.test': 1, 'www.b.test': 2 };
const fold = (...words: CacheOperation[]) => {
  const folded = foldReport(words, (host) => DOMAINS[host]);
  const names = (list: readonly { domain_id: number; key_hash: string }[]) =>
    list.map(({ domain_id, key_hash }) => `${domain_id} ${key_hash}`);
  return { ...folded, evicted: names(folded.evicted), stored: names(folded.stored) };
};

describe('a report', () => {
  it('applies the last operation of an entry, separately for each domain', () => {
    const { stored: kept, evicted: gone } = fold(
      stored('x'),
      evicted('x'),
      evicted('y'),
      stored('y'),
      stored('x', 'www.b.test'),
    );
    expect([kept, gone]).toEqual([['1 y', '2 x'], ['1 x']]);
  });

  it('drops entries from before a restart, or from before their domain was cleared', () => {
    const cleared: CacheOperation = { op: 'cleared', domain_id: 1, at: AT };
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

it('a host’s entries are stored under the host or a wildcard above it', () => {
  expect(isStorageHostOf('www.a.test', 'www.a.test')).toBe(true);
  expect(isStorageHostOf('*.a.test', 'x.www.a.test')).toBe(true);
  for (const hostname of ['*.b.test', '*.www.a.test', 'a.test', '*.t'])
    expect([hostname, isStorageHostOf(hostname, 'www.a.test')]).toEqual([hostname, false]);
});
