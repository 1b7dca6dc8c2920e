import { describe, expect, it } from 'vitest';
import { MANUAL_WAIT_MS, observersDeadlineMs } from '../../../src/checks/shares/deadlines.ts';
import { DEFAULT_LIMITS } from '../../../src/resolver/state/limits.ts';

describe('the time of observers', () => {
  it('ends before a call that waits gives up, however long the check itself took', () => {
    for (let checkMs = 0; checkMs <= DEFAULT_LIMITS.milliseconds; checkMs += 250) {
      const observersMs = observersDeadlineMs(checkMs, { isAwaited: true });
      expect(observersMs).toBeGreaterThanOrEqual(5000);
      expect(MANUAL_WAIT_MS - (checkMs + observersMs)).toBeGreaterThanOrEqual(5000);
    }
  });

  it('is 30 seconds where nobody waits', () => {
    expect([0, 15_000].map((ms) => observersDeadlineMs(ms, { isAwaited: false }))).toEqual([30_000, 30_000]);
  });

  it('is no longer when the clock was set back', () => {
    expect(observersDeadlineMs(-60_000, { isAwaited: true })).toBe(20_000);
  });
});
