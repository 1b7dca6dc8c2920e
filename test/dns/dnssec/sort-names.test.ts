import { expect, it } from 'vitest';
import { sortNames } from '../../../src/dns/dnssec/sort-names.ts';
import { compareNames, parseName, printName } from '../../../src/dns/name.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

/** RFC 4034 §6.1. */
const SORTED = wordsOf(`
  example. a.example. yljkjljk.a.example. Z.a.example. zABC.a.EXAMPLE. z.example. \\001.z.example.
  *.z.example. \\200.z.example.`);

it('sorts folded names as the example of RFC 4034 §6.1 does', () => {
  const names = SORTED.map((name) => parseName(name.toLowerCase()));
  const shuffled = [...names.slice(4), ...names.slice(0, 4)].reverse();
  expect(sortNames(shuffled).map(printName)).toEqual(names.map(printName));
  expect([...shuffled].sort(compareNames)).toEqual(names);
});

it('puts a label that begins another before it, and whatever octets they hold', () => {
  const names = ['a.', 'a\\000.', 'a\\000b.', 'a\\001.', 'aa.', 'b.'].map((name) => parseName(name));
  expect(sortNames([...names].reverse())).toEqual(names);
});
