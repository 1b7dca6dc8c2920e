import { expect, it } from 'vitest';
import { ByteBudget } from '../../../src/api/requests/byte-budget.ts';

it('each edge may overdraw its budget once, and waits until it has filled again', () => {
  let nowMs = 0;
  const budget = new ByteBudget({ bytes: 1000, bytesASecond: 100 }, () => nowMs);
  expect(budget.judge(1)).toBeUndefined();
  budget.take(1, 1500);
  expect(budget.judge(1)).toBe(6);
  expect(budget.judge(2)).toBeUndefined();
  nowMs = 5000;
  expect(budget.judge(1)).toBe(1);
  nowMs = 5010;
  expect(budget.judge(1)).toBeUndefined();
  nowMs = 1_000_000;
  budget.take(1, 1000);
  expect(budget.judge(1)).toBe(1);
});
