// How many jobs an observer takes.

import { expect, it } from 'vitest';
import { JobBudget } from '../../../workers/observer/job-budget.ts';

it('gives 20 jobs a second, and 240 at once after a pause', () => {
  const budget = new JobBudget(0);
  expect(budget.available(0)).toBe(240);
  budget.take(240);
  expect([0, 49, 50, 1000, 60_000].map((at) => budget.available(at))).toEqual([0, 0, 1, 20, 240]);
});

it('gives no more in an hour than its rate, however often it is asked', () => {
  const budget = new JobBudget(0);
  let taken = 0;
  for (let at = 0; at <= 3_600_000; at += 100) {
    const now = budget.available(at);
    budget.take(now);
    taken += now;
  }
  expect(taken).toBeLessThanOrEqual(240 + 60 * 1200);
  expect(taken).toBeGreaterThan(60 * 1200);
});

it('gives nothing for a clock that is set back', () => {
  const budget = new JobBudget(10_000);
  budget.take(240);
  expect(budget.available(0)).toBe(0);
  expect(budget.available(1000)).toBe(20);
});
