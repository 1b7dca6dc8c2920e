// How many jobs an observer accepts.

import { expect, it } from 'vitest';
import { JobBudget } from '../../../workers/observer/job-budget.ts';

it('allows 20 jobs per second, and 240 together after a pause', () => {
  const budget = new JobBudget(0);
  expect(budget.available(0)).toBe(240);
  budget.take(240);
  expect([0, 49, 50, 1000, 60_000].map((at) => budget.available(at))).toEqual([0, 0, 1, 20, 240]);
});

it('never exceeds its hourly rate, however often it is asked', () => {
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

it('allows nothing more if the clock is set back', () => {
  const budget = new JobBudget(10_000);
  budget.take(240);
  expect(budget.available(0)).toBe(0);
  expect(budget.available(1000)).toBe(20);
});
