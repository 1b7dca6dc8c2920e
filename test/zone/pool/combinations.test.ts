import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import {
  type Combination,
  combinationCount,
  combinationIn,
  combinationsToTry,
} from '../../../src/zone/pool/combinations.ts';
import { randomFrom } from '../../support/random/random-zones.ts';

const listsOf = (sizes: readonly number[]): Name[][] =>
  sizes.map((size, list) => Array.from({ length: size }, (_, i) => parseName(`ns${i}.list${list}.example.`)));

const anyLists = fc
  .array(fc.integer({ min: 1, max: 13 }), { minLength: 2, maxLength: 4 })
  .filter((sizes) => sizes.reduce((product, size) => product * size, 1) <= 1000)
  .map(listsOf);

const text = (names: Combination) => names.join('|');

describe('the combinations of lists', () => {
  it('are one name of each list, all different, as many as the product of the lists', () => {
    fc.assert(
      fc.property(anyLists, fc.integer(), (lists, seed) => {
        const count = combinationCount(lists);
        expect(count).toBe(lists.reduce((product, { length }) => product * length, 1));
        const [, ...batches] = combinationsToTry(lists, () => 0);
        const all = batches.flat();
        expect(all).toHaveLength(count);
        expect(new Set(all.map(text)).size).toBe(count);
        const isOneOfEach = (names: Combination) =>
          names.length === lists.length && names.every((name, at) => lists[at]?.includes(name));
        expect(all.filter((names) => !isOneOfEach(names))).toEqual([]);
        expect(new Set(all.flat())).toEqual(new Set(lists.flat()));
        const tried = new Set([...combinationsToTry(lists, randomFrom(seed))].flat().map(text));
        expect(tried.size).toBe(count);
      }),
      { numRuns: 50 },
    );
  });

  it('of no list are none', () => {
    expect(combinationCount([])).toBe(0);
    expect([...combinationsToTry([], Math.random)]).toEqual([]);
  });
});

it('the combinations to try are those of the random: the same again for the same one, others for another', () => {
  const lists = listsOf([40, 40]);
  const first = (seed: number) => combinationsToTry(lists, randomFrom(seed)).next().value;
  expect(first(1)).toEqual(first(1));
  expect(first(1)).not.toEqual(first(2));
});

it('names hold a combination when they are one of each list, and perhaps others of no list', () => {
  const lists = listsOf([3, 3]);
  const [[a1, a2], [b1]] = lists as [[Name, Name], [Name]];
  const other = parseName('ns.other.example.');
  expect(combinationIn(lists, [b1, a1])).toEqual([a1, b1]);
  expect(combinationIn(lists, [other, a2, b1])).toEqual([a2, b1]);
  for (const names of [[a1], [a1, a2, b1], [a1, other], []])
    expect(combinationIn(lists, names)).toBeUndefined();
  expect(combinationIn([], [a1])).toBeUndefined();
});
