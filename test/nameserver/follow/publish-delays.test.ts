import { expect, it } from 'vitest';
import {
  countPublishDelay,
  DELAY_BOUNDS_SECONDS,
  noPublishDelays,
} from '../../../src/nameserver/follow/publish-delays.ts';

it('counts each zone in the first bucket that includes the delay, and long delays in the last bucket', () => {
  const delays = noPublishDelays();
  countPublishDelay(delays, { zones: 2, delaySeconds: 0.05 }, 5000);
  countPublishDelay(delays, { zones: 1, delaySeconds: 0.06 }, 5000);
  countPublishDelay(delays, { zones: 3, delaySeconds: 3601 }, 5000);
  const expected = DELAY_BOUNDS_SECONDS.map((bound) => ({ 0.05: 2, 0.1: 1 })[bound] ?? 0);
  expect([...delays.buckets]).toEqual([...expected, 3]);
  expect(delays.sum).toBeCloseTo(2 * 0.05 + 0.06 + 3 * 3601);
});

it('ignores changes from before the start of the node', () => {
  const delays = noPublishDelays();
  countPublishDelay(delays, { zones: 1, delaySeconds: 61 }, 60);
  expect(delays).toEqual(noPublishDelays());
});
