import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { canonicalAddress, findSharedNetwork } from '../../src/zone/pool/address-lists.ts';
import {
  type Combination,
  combinationCount,
  combinationIn,
  combinationsToTry,
} from '../../src/zone/pool/combinations.ts';
import { expandPattern } from '../../src/zone/pool/name-pattern.ts';
import { expandPool } from '../../src/zone/pool/pool.ts';
import {
  mayGive,
  mostExclusive,
  type PoolUse,
  type SetKind,
  shareGiven,
} from '../../src/zone/pool/pool-use.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { wordsOf } from '../support/tests/rows-of.ts';

it('a pool consists of its lists with every name of their patterns, and their addresses', () => {
  const addresses = [['192.0.2.1'], ['198.51.100.1']];
  const pool = expandPool([['a.example.', 'ns[1-2].example.'], ['ns[1-2].example.net.']], addresses);
  expect(pool?.lists.map((names) => names.map(printName))).toEqual([
    ['a.example.', 'ns1.example.', 'ns2.example.'],
    ['ns1.example.net.', 'ns2.example.net.'],
  ]);
  expect(pool?.addresses).toBe(addresses);
});

it('without lists there is no pool', () => {
  expect(expandPool([], [])).toBeUndefined();
});

describe('the addresses of a pool', () => {
  it('are printed as in answers', () => {
    expect(canonicalAddress('192.0.2.1')).toBe('192.0.2.1');
    expect(canonicalAddress('2001:DB8:0:0:0:0:0:1')).toBe('2001:db8::1');
    for (const text of ['192.0.2', '192.0.2.01', 'fe80::1%eth0', 'ns1.example', '']) {
      expect(canonicalAddress(text)).toBeUndefined();
    }
  });

  it('share a network if two lists have addresses in one /24 or /48', () => {
    const v4 = { network: '192.0.2.0/24', a: 1, b: 3 };
    expect(findSharedNetwork([['192.0.2.1'], ['198.51.100.1'], ['192.0.2.250']])).toEqual(v4);
    const v6 = { network: '2001:db8:1::/48', a: 1, b: 2 };
    expect(findSharedNetwork([['2001:db8:1::1'], ['2001:db8:1:ffff::1']])).toEqual(v6);
    // one list has two addresses there, or the networks differ
    const own = ['192.0.2.1', '192.0.2.2', '2001:db8:1::1'];
    expect(findSharedNetwork([own, ['192.0.3.1', '2001:db8:2::1']])).toBeUndefined();
  });
});

const listsOf = (sizes: readonly number[]): Name[][] =>
  sizes.map((size, list) => Array.from({ length: size }, (_, i) => parseName(`ns${i}.list${list}.example.`)));

const anyLists = fc
  .array(fc.integer({ min: 1, max: 13 }), { minLength: 2, maxLength: 4 })
  .filter((sizes) => sizes.reduce((product, size) => product * size, 1) <= 1000)
  .map(listsOf);

const text = (names: Combination) => names.join('|');

describe('the combinations of lists', () => {
  it('consist of one name per list, are distinct, and as many as the product of the lists', () => {
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

  it('of no lists are empty', () => {
    expect(combinationCount([])).toBe(0);
    expect([...combinationsToTry([], Math.random)]).toEqual([]);
  });
});

it('the combinations to try depend only on the random numbers', () => {
  const lists = listsOf([40, 40]);
  const first = (seed: number) => combinationsToTry(lists, randomFrom(seed)).next().value;
  expect(first(1)).toEqual(first(1));
  expect(first(1)).not.toEqual(first(2));
});

it('names contain a combination if they include one of each list; others may be in no list', () => {
  const lists = listsOf([3, 3]);
  const [[a1, a2], [b1]] = lists as [[Name, Name], [Name]];
  const other = parseName('ns.other.example.');
  expect(combinationIn(lists, [b1, a1])).toEqual([a1, b1]);
  expect(combinationIn(lists, [other, a2, b1])).toEqual([a2, b1]);
  for (const names of [[a1], [a1, a2, b1], [a1, other], []])
    expect(combinationIn(lists, names)).toBeUndefined();
  expect(combinationIn([], [a1])).toBeUndefined();
});

describe('a pattern', () => {
  it('without a range is one name', () => {
    expect(expandPattern('ns.example.')).toEqual(['ns.example.']);
  });

  it('with a range is every name in it, with leading zeros if its ends have them', () => {
    expect(expandPattern('ns[08-11].example.')).toEqual([
      'ns08.example.',
      'ns09.example.',
      'ns10.example.',
      'ns11.example.',
    ]);
    expect(expandPattern('ns[9-11].example.')).toEqual(['ns9.example.', 'ns10.example.', 'ns11.example.']);
    expect(expandPattern('[0-1]-a.example.')).toEqual(['0-a.example.', '1-a.example.']);
    expect(expandPattern('a.[7-7].example.')).toEqual(['a.7.example.']);
    expect(expandPattern('ns[001-1000].example.')).toBeUndefined();
    expect(expandPattern('ns[1-1000].example.')).toHaveLength(1000);
  });

  it.each(
    wordsOf(`
    ns[2-1].example. ns[01-1].example. ns[1-010].example. ns[1-1001].example. ns[1-].example.
    ns[a-b].example. ns[1-2][1-2].example. ns[1-2.example. ns1-2].example. ns[].example.
    ns[1-99999].example.`),
  )('is invalid: %s', (pattern) => {
    expect(expandPattern(pattern)).toBeUndefined();
  });
});

const use = (total: number, given: Partial<PoolUse> = {}): PoolUse => ({
  exclusive: 0,
  substitute: 0,
  shared: 0,
  ...given,
  total,
});

describe('a pool', () => {
  it('assigns nine tenths to single accounts: 1,440 for two lists of 40, 57,600 for three', () => {
    expect(mostExclusive(40 * 40)).toBe(1440);
    expect(mostExclusive(40 * 40 * 40)).toBe(57_600);
    expect(mayGive('exclusive', use(1600, { exclusive: 1439 }))).toBe(true);
    expect(mayGive('exclusive', use(1600, { exclusive: 1440 }))).toBe(false);
  });

  it('keeps the rest for substitutes and shared sets, half for each', () => {
    expect(mayGive('substitute', use(1600, { exclusive: 1440 }))).toBe(true);
    expect(mayGive('shared', use(1600, { exclusive: 1440, shared: 79 }))).toBe(true);
    expect(mayGive('shared', use(1600, { exclusive: 1440, shared: 80 }))).toBe(false);
  });

  it('always has one combination left to share, and assigns none twice', () => {
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

  it('reports the fraction assigned, which is 1 if no account can have a combination of its own', () => {
    expect(shareGiven(use(1600))).toBe(0);
    expect(shareGiven(use(1600, { exclusive: 720, substitute: 9 }))).toBe(0.5);
    expect(shareGiven(use(1600, { exclusive: 1440 }))).toBe(1);
    expect(shareGiven(use(10, { exclusive: 1, substitute: 8 }))).toBe(1);
    expect(shareGiven(use(1))).toBe(1);
  });
});
