import { expect, it } from 'vitest';
import { throttled } from '../../../src/nameserver/threads/throttled.ts';

it('reports the first error immediately, and then at most one per second', () => {
  const reported: unknown[] = [];
  let nowMs = 0;
  const report = throttled(
    (error) => reported.push(error),
    () => nowMs,
  );
  for (nowMs of [0, 1, 999, 1000, 1001, 2500]) report(nowMs);
  expect(reported).toEqual([0, 1000, 2500]);
});
