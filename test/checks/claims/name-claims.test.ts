import { expect, it } from 'vitest';
import { isSameSet } from '../../../src/checks/claims/name-claims.ts';
import { names } from '../../support/world/check-evidence.ts';

it('sets are the same in any order, and only whole', () => {
  expect(isSameSet(names('ns1.a ns2.a'), names('ns2.a ns1.a'))).toBe(true);
  expect(isSameSet(names('ns1.a ns2.a'), names('ns1.a'))).toBe(false);
  expect(isSameSet(names('ns1.a'), names('ns1.a ns2.a'))).toBe(false);
});
