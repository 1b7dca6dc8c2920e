import { expect, it } from 'vitest';
import { GB, quotaPeriod, toldPercent } from '../../src/billing/quota.ts';
import { addDays } from '../../src/billing/subscription.ts';

const START = new Date('2026-01-01T12:00:00Z');

it.each([
  [0, 0],
  [29.9, 0],
  [30, 30],
  [400, 390],
  [-1, 0], // clocks of two machines differ
])('traffic of day %d counts from day %d on', (day, first) => {
  const period = quotaPeriod(START, 30, addDays(START, day));
  expect(period).toEqual({ start: addDays(START, first), end: addDays(START, first + 30) });
});

it('a quota that is never reset has no period', () => {
  expect(quotaPeriod(START, 0, START)).toBeUndefined();
});

it.each([
  [79.9, 100, undefined],
  [80, 100, 80],
  [99.999, 100, 80],
  [100, 100, 100],
  [5000, 100, 100],
  [0, 0, undefined],
  [0.001, 0, 100],
  [5000, null, undefined],
])('%d GB of %s included: %s %% is notified', (gb, limit, told) => {
  expect(toldPercent(gb * GB, limit)).toBe(told);
});
