import { expect, test } from 'vitest';
import { nextEdgeSets } from '../../../src/edge/sets/next-edge-sets.ts';
import type { RegisteredEdge } from '../../../src/edge/sets/plan-edge-sets.ts';
import type { EdgeSets } from '../../../src/zone/edge-sets.ts';

const NOTHING: EdgeSets = { version: 0, regions: [], countries: {} };
const edge = (name: string, region: string, v4: string[], v6: string[] = []): RegisteredEdge => ({
  name,
  region,
  v4,
  v6,
  isDrained: false,
  seenAtMs: 0,
});
const A = edge('a', 'eu', ['192.0.2.1'], ['2001:db8::1']);
const B = edge('b', 'eu', ['192.0.2.2']);

test('a region publishes the addresses of its members', () => {
  expect(nextEdgeSets([A, B], { eu: ['b', 'a'] }, { DE: 'eu', US: 'us' }, NOTHING)).toEqual({
    version: 1,
    regions: [{ region: 'eu', v4: [['192.0.2.1', '192.0.2.2']], v6: [['2001:db8::1']] }],
    countries: { DE: 'eu' },
  });
});

test('what was published before stands behind what is now, and only the last of it', () => {
  const first = nextEdgeSets([A, B], { eu: ['a', 'b'] }, {}, NOTHING);
  const second = nextEdgeSets([A, B], { eu: ['a'] }, {}, first);
  expect(second.regions[0]?.v4).toEqual([['192.0.2.1'], ['192.0.2.1', '192.0.2.2']]);
  const third = nextEdgeSets([A, B], { eu: ['b'] }, {}, second);
  expect(third.regions[0]?.v4).toEqual([['192.0.2.2'], ['192.0.2.1']]);
  expect(third.regions[0]?.v6).toEqual([]);
});

test('nothing new is the very same, whatever the order', () => {
  const first = nextEdgeSets([A, B], { eu: ['a', 'b'] }, { FR: 'eu', DE: 'eu' }, NOTHING);
  const stored = { ...first, countries: { FR: 'eu', DE: 'eu' } };
  expect(nextEdgeSets([B, A], { eu: ['b', 'a'] }, { DE: 'eu', FR: 'eu' }, stored)).toBe(stored);
});

test('a region has sixteen addresses of a family at most, of the first edges by name', () => {
  const many = Array.from({ length: 20 }, (_, i) =>
    edge(`e${String(i).padStart(2, '0')}`, 'eu', [`192.0.2.${i}`]),
  );
  const sets = nextEdgeSets(many, { eu: many.map(({ name }) => name) }, {}, NOTHING);
  expect(sets.regions[0]?.v4[0]).toHaveLength(16);
  expect(sets.regions[0]?.v4[0]?.[0]).toBe('192.0.2.0');
});
