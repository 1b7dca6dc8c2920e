import { expect, it } from 'vitest';
import { sortNames } from '../../../src/dns/dnssec/sort-names.ts';
import { compareNames, parseName, printName } from '../../../src/dns/name.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

/** RFC 4034 §6.1. */
const SORTED = wordsOf(`
  example. a.example. yljkjljk.a.example. Z.a.example. zABC.a.EXAMPLE. z.example. \\001.z.example.
  *.z.example. \\200.z.example.`);

it('sorts folded names as the example of RFC 4034 §6.1 does, and compareNames sorts them in any case', () => {
  const names = SORTED.map((name) => parseName(name.toLowerCase()));
  const shuffled = [...names.slice(4), ...names.slice(0, 4)].reverse();
  expect(sortNames(shuffled).map(printName)).toEqual(names.map(printName));
  const mixed = SORTED.map((name) => parseName(name));
  expect([...mixed].reverse().sort(compareNames)).toEqual(mixed);
  expect(compareNames(parseName('A.b.'), parseName('a.B.'))).toBe(0);
});

it('sorts a label before those that it begins, for any octets', () => {
  const names = ['a.', 'a\\000.', 'a\\000b.', 'a\\001.', 'aa.', 'b.'].map((name) => parseName(name));
  expect(sortNames([...names].reverse())).toEqual(names);
});
