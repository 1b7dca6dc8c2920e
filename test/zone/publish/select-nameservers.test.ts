import { expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import {
  findSet,
  nameserverSetsOf,
  selectNameservers,
  setsLeft,
} from '../../../src/zone/publish/select-nameservers.ts';

const names = (...texts: string[]): Name[] => texts.map((text) => parseName(text));
const FIRST = names('ns1.a.test.', 'ns2.a.test.');
const SECOND = names('ns1.b.test.', 'ns2.b.test.');
const SETS = [FIRST, SECOND];

it('the set that the parent delegates to comes before the owner’s choice, the canonical one last', () => {
  expect(selectNameservers({}, SETS)).toBe(FIRST);
  expect(selectNameservers({ chosen: SECOND }, SETS)).toBe(SECOND);
  expect(selectNameservers({ chosen: SECOND, delegated: FIRST }, SETS)).toBe(FIRST);
});

it('a set is known in any order and case, and only whole', () => {
  expect(findSet(names('NS2.b.test.', 'ns1.B.test.'), SETS)).toBe(SECOND);
  expect(findSet(names('ns1.b.test.'), SETS)).toBeUndefined();
  expect(findSet(names('ns1.a.test.', 'ns2.b.test.'), SETS)).toBeUndefined();
  expect(findSet([...SECOND, ...names('ns3.b.test.')], SETS)).toBeUndefined();
  expect(selectNameservers({ delegated: names('ns1.a.test.', 'ns2.b.test.') }, SETS)).toBe(FIRST);
});

it('a set that is no longer accepted is not selected', () => {
  expect(selectNameservers({ chosen: SECOND }, [FIRST])).toBe(FIRST);
  expect(() => selectNameservers({}, [])).toThrow(RangeError);
});

it('all sets are listed, the domain’s own first', () => {
  expect(nameserverSetsOf({ chosen: SECOND }, SETS)).toEqual([SECOND, FIRST]);
  expect(nameserverSetsOf({}, SETS)).toEqual([FIRST, SECOND]);
});

it('a set that a preset delegation took is not the domain’s, whatever its parent lists and its owner chose', () => {
  const taken = [names('NS2.a.test.', 'ns1.a.test.')];
  expect(setsLeft({ taken }, SETS)).toEqual([SECOND]);
  expect(selectNameservers({ taken, chosen: FIRST, delegated: FIRST }, SETS)).toBe(SECOND);
  expect(nameserverSetsOf({ taken, chosen: FIRST }, SETS)).toEqual([SECOND]);
  expect(setsLeft({ taken: [] }, SETS)).toBe(SETS);
});

it('with every set taken there is none to be delegated to', () => {
  const domain = { taken: SETS, delegated: FIRST };
  expect(selectNameservers(domain, SETS)).toEqual([]);
  expect(selectNameservers(domain, SETS)).toBe(selectNameservers(domain, SETS)); // the same array
  expect(nameserverSetsOf(domain, SETS)).toEqual([]);
});
