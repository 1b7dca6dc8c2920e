import fc from 'fast-check';
import { expect, it } from 'vitest';
import { condenseFailures, condenseIds, expandFailures, expandIds } from '../../../src/api/body/condense.ts';

it('a list that fails completely is condensed to one error with one range', () => {
  const failures = Array.from({ length: 100_000 }, (_, index) => [index, 'no'] as const);
  expect(condenseFailures(failures)).toEqual([['no', [0, 99_999]]]);
});

it('all failures can be restored from the condensed form', () => {
  const errors = fc.constantFrom('a', 'b', 'c');
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.nat(50), errors), { selector: ([index]) => index }),
      (failures) => {
        const inOrder = [...failures].sort(([a], [b]) => a - b);
        const found = [...expandFailures(condenseFailures(inOrder))].sort(([a], [b]) => a - b);
        expect(found).toEqual(inOrder);
      },
    ),
  );
});

it('ids that increase with the items are condensed to one range', () => {
  const items = Array.from({ length: 100_000 }, (_, i) => ({ index: i, id: 500 + i }));
  expect(condenseIds(items)).toEqual([[0, 500, 100_000]]);
  const gap = items.slice(0, 3).concat(items.slice(4, 6));
  expect(condenseIds(gap)).toEqual([
    [0, 500, 3],
    [4, 504, 2],
  ]);
});

it('every list of ids can be restored', () => {
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
