import fc from 'fast-check';
import { expect, it } from 'vitest';
import { condenseIds, expandIds } from '../../../src/api/body/condense-ids.ts';

it('ids that go on with the items are one run', () => {
  const items = Array.from({ length: 100_000 }, (_, i) => ({ index: i, id: 500 + i }));
  expect(condenseIds(items)).toEqual([[0, 500, 100_000]]);
  const gap = items.slice(0, 3).concat(items.slice(4, 6));
  expect(condenseIds(gap)).toEqual([
    [0, 500, 3],
    [4, 504, 2],
  ]);
});

it('every list comes back', () => {
  const item = fc.record({ index: fc.nat(20), id: fc.nat(20) });
  const list = fc
    .uniqueArray(item, { selector: ({ index }) => index })
    .map((items) => items.sort((a, b) => a.index - b.index));
  fc.assert(
    fc.property(list, (items) => {
      expect(expandIds(condenseIds(items))).toEqual(items);
    }),
  );
});
