import { expect, it } from 'vitest';
import { parseTtl } from '../../src/dns/ttl.ts';

it.each([
  ['0', 0],
  ['0300', 300],
  ['4294967295', 4294967295],
  ['1s', 1],
  ['1h30m', 5400],
  ['30M1H', 5400],
  ['1W2d3H4m5S', 788645],
] as const)('%s is %i seconds', (text, seconds) => {
  expect(parseTtl(text)).toBe(seconds);
});

it.each('|h|1h30|1x|-1|1.5h|1 h|4294967296|7102w|1e3|٣'.split('|'))('%j is no time', (text) => {
  expect(parseTtl(text)).toBeUndefined();
});
