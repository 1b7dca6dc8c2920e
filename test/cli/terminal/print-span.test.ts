import { expect, it } from 'vitest';
import { printSpan } from '../../../src/cli/terminal/print-span.ts';

it.each([
  [0, '0.0 s'],
  [0.04, '0.0 s'],
  [9.44, '9.4 s'],
  [12.4, '12 s'],
  [59.6, '1 min'],
  [61, '1 min 1 s'],
  [3600, '1 h'],
  [3605, '1 h'],
  [11_040, '3 h 4 min'],
  [86_400 * 40 + 7300, '40 d 2 h'],
])('%s seconds are %s', (seconds, text) => {
  expect(printSpan(seconds)).toBe(text);
});
