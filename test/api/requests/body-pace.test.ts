import { expect, it } from 'vitest';
import { BodyPace } from '../../../src/api/requests/body-pace.ts';

const PACE = { graceMs: 5000, bytesASecond: 1000, mostMs: 30_000 };

/** A body of pieces, each with the time for which we wait for it, and the time that we then need. */
function read(pieces: readonly (readonly [octets: number, waitMs: number, workMs?: number])[]): BodyPace {
  const pace = new BodyPace(PACE);
  let nowMs = 1000;
  for (const [octets, waitMs, workMs = 0] of pieces) {
    pace.wait(nowMs);
    nowMs += waitMs;
    pace.came(octets, nowMs);
    nowMs += workMs;
  }
  return pace;
}

it('what sends nothing is waited for as long as the grace', () => {
  const pace = new BodyPace(PACE);
  expect(pace.wait(1000)).toBe(5000);
});

it('a trickle gets no more than the grace in all, however its octets are spread', () => {
  expect(read(Array.from({ length: 49 }, () => [1, 100])).wait(0)).toBe(100);
  expect(read(Array.from({ length: 50 }, () => [1, 100])).wait(0)).toBe(0);
});

it('what keeps the least rate is waited for as long as its octets allow', () => {
  expect(read([[8000, 6000]]).wait(0)).toBe(2000);
  expect(read([[8000, 8000]]).wait(0)).toBe(0);
});

it('a burst at the beginning gives no more than the longest time', () => {
  expect(read([[1_000_000, 0]]).wait(0)).toBe(30_000);
  expect(read([[1_000_000, 30_000]]).wait(0)).toBe(0);
});

it('while it waits for us its time stands still', () => {
  expect(read([[100, 10, 60_000]]).wait(0)).toBe(4990);
});

it('is slow when we waited for more than a second, for less than four times the least rate', () => {
  expect(read([[1, 1000]]).isSlow).toBe(false);
  expect(read([[4000, 1001]]).isSlow).toBe(true);
  expect(read([[5000, 1001]]).isSlow).toBe(false);
  expect(read([[1, 900, 60_000]]).isSlow).toBe(false);
});

it('that broke off while we waited counts that wait', () => {
  const pace = new BodyPace(PACE);
  pace.wait(1000);
  pace.came(0, 3000);
  expect(pace.isSlow).toBe(true);
});
