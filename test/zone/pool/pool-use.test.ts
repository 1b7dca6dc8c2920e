import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mayGive,
  mostExclusive,
  type PoolUse,
  type SetKind,
  shareGiven,
} from '../../../src/zone/pool/pool-use.ts';

const use = (total: number, given: Partial<PoolUse> = {}): PoolUse => ({
  exclusive: 0,
  substitute: 0,
  shared: 0,
  ...given,
  total,
});

describe('a pool', () => {
  it('gives nine tenths to single accounts: 1,440 of two lists of 40, 57,600 of three', () => {
    expect(mostExclusive(40 * 40)).toBe(1440);
    expect(mostExclusive(40 * 40 * 40)).toBe(57_600);
    expect(mayGive('exclusive', use(1600, { exclusive: 1439 }))).toBe(true);
    expect(mayGive('exclusive', use(1600, { exclusive: 1440 }))).toBe(false);
  });

  it('keeps the rest for substitutes and sets that are shared, half of it each', () => {
    expect(mayGive('substitute', use(1600, { exclusive: 1440 }))).toBe(true);
    expect(mayGive('shared', use(1600, { exclusive: 1440, shared: 79 }))).toBe(true);
    expect(mayGive('shared', use(1600, { exclusive: 1440, shared: 80 }))).toBe(false);
  });

  it('has one combination to share in the end, whoever was given one before, and gives none twice', () => {
    const kinds = fc.array(fc.constantFrom<SetKind>('exclusive', 'substitute', 'shared'), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), kinds, (total, wanted) => {
        let given = use(total);
        for (const kind of wanted) if (mayGive(kind, given)) given = { ...given, [kind]: given[kind] + 1 };
        expect(given.exclusive + given.substitute + given.shared).toBeLessThanOrEqual(total);
        expect(given.exclusive).toBeLessThanOrEqual(mostExclusive(total));
        expect(given.shared > 0 || mayGive('shared', given)).toBe(true);
      }),
    );
  });

  it('tells the share that is given, which is 1 when no account can have one of its own any more', () => {
    expect(shareGiven(use(1600))).toBe(0);
    expect(shareGiven(use(1600, { exclusive: 720, substitute: 9 }))).toBe(0.5);
    expect(shareGiven(use(1600, { exclusive: 1440 }))).toBe(1);
    expect(shareGiven(use(10, { exclusive: 1, substitute: 8 }))).toBe(1);
    expect(shareGiven(use(1))).toBe(1);
  });
});
