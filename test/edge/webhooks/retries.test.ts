import { expect, it } from 'vitest';
import { retrySeconds } from '../../../src/edge/webhooks/retries.ts';

it('a call is tried again more and more seldom, for 24 hours', () => {
  const waits: number[] = [];
  let age = 0;
  for (let attempts = 1; ; attempts++) {
    const seconds = retrySeconds({ attempts, ageSeconds: age });
    if (seconds === undefined) break;
    waits.push(seconds);
    age += seconds;
  }
  expect(waits.slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1920, 3840, 7200]);
  expect(age).toBeLessThanOrEqual(86_400);
  expect(age).toBeGreaterThan(86_400 - 7200);
});
