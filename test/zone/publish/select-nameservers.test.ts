import { expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import {
  findSet,
  type NameserverChoice,
  nameserverSetsOf,
} from '../../../src/zone/publish/select-nameservers.ts';

const names = (...texts: string[]): Name[] => texts.map((text) => parseName(text));
const FIRST = names('ns1.a.test.', 'ns2.a.test.');
const SECOND = names('ns1.b.test.', 'ns2.b.test.');
const SETS = [FIRST, SECOND];

const selectNameservers = (domain: NameserverChoice, sets: Parameters<typeof nameserverSetsOf>[1]) =>
  nameserverSetsOf(domain, sets)[0];

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
  expect(selectNameservers({}, [])).toBeUndefined();
});

it('all sets are listed, the domain’s own first', () => {
  expect(nameserverSetsOf({ chosen: SECOND }, SETS)).toEqual([SECOND, FIRST]);
  expect(nameserverSetsOf({}, SETS)).toEqual([FIRST, SECOND]);
});
