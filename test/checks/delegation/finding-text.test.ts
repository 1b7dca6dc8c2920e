import { describe, expect, it } from 'vitest';
import {
  list,
  nameservers,
  print,
  type Said,
  saidText,
} from '../../../src/checks/delegation/finding-text.ts';
import { parseName } from '../../../src/dns/name.ts';
import { names } from '../../support/world/check-evidence.ts';

describe('names in a sentence', () => {
  it('have no final dot, as registrars show them; the root has one', () => {
    expect([print(parseName('ns1.a.')), print(parseName('.'))]).toEqual(['ns1.a', '. (the root)']);
  });

  it.each([
    ['a', 'a', 'nameserver a'],
    ['a b', 'a and b', 'nameservers a and b'],
    ['a b c', 'a, b and c', 'nameservers a, b and c'],
  ])('%s: %s', (text, printed, called) => {
    expect([list(names(text)), nameservers(names(text))]).toEqual([printed, called]);
  });
});

describe('what servers say', () => {
  it.each<[Said['kind'], string, string]>([
    ['delegation', 'p1 lists a and b', 'p1 and p2 list a and b'],
    ['nodata', 'p1 says that it has no nameservers', 'p1 and p2 say that it has no nameservers'],
    ['nxdomain', 'p1 says that it does not exist', 'p1 and p2 say that it does not exist'],
    ['alias', 'p1 says that it is an alias', 'p1 and p2 say that it is an alias'],
  ])('%s', (kind, one, two) => {
    const ns = names('a b');
    expect(saidText({ by: names('p1'), kind, ns })).toBe(one);
    expect(saidText({ by: names('p1 p2'), kind, ns })).toBe(two);
  });

  it('stays short however many names its owner lists', () => {
    const ns = names(Array.from({ length: 200 }, (_, i) => `n${i}`).join(' '));
    expect(saidText({ by: names('p1'), kind: 'delegation', ns })).toMatch(/n7 and 192 more$/);
  });
});
