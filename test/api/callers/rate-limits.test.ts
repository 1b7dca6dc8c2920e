import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemoryWindows } from '../../../src/api/callers/rate-limits.ts';

const MINUTE_MS = 60_000;

it('a process on its own admits exactly the rate in any 60 seconds', () => {
  const gaps = fc.array(fc.nat({ max: 30_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 5 }), (waits, rate) => {
      let nowMs = 0;
      const windows = new MemoryWindows(rate, () => nowMs);
      const admitted: number[] = [];
      for (const wait of waits) {
        nowMs += wait;
        const live = admitted.filter((at) => at > nowMs - MINUTE_MS);
        const taken = windows.take('a');
        expect(taken.admitted).toBe(live.length < rate);
        expect(taken.waitMs).toBe((live[0] ?? nowMs) + MINUTE_MS - nowMs);
        if (taken.admitted) admitted.push(nowMs);
      }
    }),
  );
});

it('a caller beyond the limit is refused until the time that the database returned', () => {
  let nowMs = 0;
  const windows = new MemoryWindows(3, () => nowMs);
  windows.block('a', 500);
  expect(windows.judge('a')).toEqual({ admitted: false, used: 3, waitMs: 500 });
  expect(windows.judge('b')).toBeUndefined();
  nowMs = 500;
  expect(windows.judge('a')).toBeUndefined();
});

it('requests that the database admitted count while it is unavailable', () => {
  const windows = new MemoryWindows(2, () => 100);
  windows.note('a', 40);
  expect(windows.take('a').admitted).toBe(true);
  expect(windows.take('a')).toEqual({ admitted: false, used: 2, waitMs: MINUTE_MS - 60 });
});

it('a bounded number of callers is stored', () => {
  const windows = new MemoryWindows(2, () => 0);
  for (let i = 0; i < 12_000; i++) windows.note(`key:${i}`, 0);
  expect(windows.size).toBe(10_000);
});
