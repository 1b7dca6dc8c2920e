import { expect, it } from 'vitest';
import { spentSets } from '../../../src/checks/claims/spent-sets.ts';
import { names } from '../../support/world/check-evidence.ts';

const [A, B] = [names('ns1.a ns2.a'), names('ns1.b ns2.b')];
const BOTH = [
  { names: A, exclusive: false },
  { names: B, exclusive: true },
];
const RULES = { mayBeSeen: false, isOnlySet: false, isContested: false };

it('one name of a shared set that was shown spends the set; an exclusive one is never spent', () => {
  expect(spentSets(BOTH, new Set([...A.slice(1), ...B]), RULES)).toEqual([A]);
  expect(spentSets(BOTH, new Set(names('ns1.x')), RULES)).toEqual([]);
});

it('nothing is spent for a claim that may be seen, nor the only set of a name that nobody else wants', () => {
  const shown = new Set(A);
  expect(spentSets(BOTH, shown, { ...RULES, mayBeSeen: true })).toEqual([]);
  expect(spentSets(BOTH, shown, { ...RULES, isOnlySet: true })).toEqual([]);
  expect(spentSets(BOTH, shown, { ...RULES, isOnlySet: true, isContested: true })).toEqual([A]);
});
