import { expect, test } from 'vitest';
import { nextChildCheckAt } from '../../../src/checks/child/next-child-check-at.ts';

const HOUR_MS = 3_600_000;

test('a domain is looked at once a day, an active one once a week, each varied by up to a fifth', () => {
  for (const [isActive, hours] of [
    [false, 24],
    [true, 168],
  ] as const) {
    expect(nextChildCheckAt(1000, isActive, 0.5)).toBe(1000 + hours * HOUR_MS);
    expect(nextChildCheckAt(0, isActive, 0)).toBeCloseTo(0.8 * hours * HOUR_MS);
    expect(nextChildCheckAt(0, isActive, 1)).toBeCloseTo(1.2 * hours * HOUR_MS);
  }
});
