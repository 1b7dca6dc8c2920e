import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { expandPool } from '../../../src/zone/pool/pool.ts';

it('a pool is its lists with every name of their patterns, and their addresses', () => {
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
