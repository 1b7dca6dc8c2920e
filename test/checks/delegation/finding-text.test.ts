import { expect, it } from 'vitest';
import { list, nameservers, print } from '../../../src/checks/delegation/finding-text.ts';
import { parseName } from '../../../src/dns/name.ts';
import { names } from '../../support/world/check-evidence.ts';

it('names have no final dot, as registrars show them; the root has one', () => {
  expect([print(parseName('ns1.a.')), print(parseName('.'))]).toEqual(['ns1.a', '. (the root)']);
});

it.each([
  ['a', 'a', 'nameserver a'],
  ['a b', 'a and b', 'nameservers a and b'],
  ['a b c', 'a, b and c', 'nameservers a, b and c'],
])('the names %s are listed as %s', (text, printed, called) => {
  expect([list(names(text)), nameservers(names(text))]).toEqual([printed, called]);
});
