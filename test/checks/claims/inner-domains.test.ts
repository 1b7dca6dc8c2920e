import { expect, it } from 'vitest';
import { endingInside, type HeldInside } from '../../../src/checks/claims/inner-domains.ts';
import { parseName } from '../../../src/dns/name.ts';
import { names } from '../../support/world/check-evidence.ts';

const held = (name: string, accountId = 2): HeldInside => ({
  name: parseName(name),
  ns: names('ns1.a ns2.a'),
  accountId,
});
const ending = (inside: readonly HeldInside[], delegated = '') =>
  endingInside(1, inside, names(delegated)).map(({ name }) => name);

it('domains of other accounts inside end, those of the same account go on', () => {
  expect(ending([held('a.shop.com.'), held('b.shop.com.', 1)])).toEqual(names('a.shop.com'));
});

it('a delegation at the name or above it keeps it; one below it, or beside it, does not', () => {
  const inside = [held('x.a.shop.com.')];
  expect(ending(inside, 'x.a.shop.com')).toEqual([]);
  expect(ending(inside, 'a.shop.com')).toEqual([]);
  expect(ending(inside, 'y.x.a.shop.com')).toEqual(names('x.a.shop.com'));
  expect(ending(inside, 'xa.shop.com ba.shop.com')).toEqual(names('x.a.shop.com'));
});

it('nine are enough to say that there are more than eight', () => {
  expect(ending(Array.from({ length: 300 }, (_, i) => held(`n${i}.shop.com.`)))).toHaveLength(9);
});
