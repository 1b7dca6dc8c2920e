import fc from 'fast-check';
import { expect, it } from 'vitest';
import { condenseFailures, expandFailures } from '../../../src/api/body/condense-failures.ts';

it('a list that fails as a whole is one error with one run', () => {
  const failures = Array.from({ length: 100_000 }, (_, index) => [index, 'no'] as const);
  expect(condenseFailures(failures)).toEqual([['no', [0, 99_999]]]);
});

it('whatever failed is found again from the short form', () => {
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
