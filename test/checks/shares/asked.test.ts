// When a name is checked that clients ask for.

import { describe, expect, it } from 'vitest';
import { planAsked } from '../../../src/checks/shares/asked.ts';

const NOW = 1_700_000_000_000;
const HALF_A_MINUTE = 30_000;
const FIVE_MINUTES = 300_000;

describe('a name that is asked for', () => {
  it('is checked at once, if it was not for five minutes', () => {
    const at = { at: NOW, isAgain: false };
    expect(planAsked({ checkedAt: undefined, again: 100 }, NOW)).toEqual(at);
    expect(planAsked({ checkedAt: NOW - FIVE_MINUTES, again: 100 }, NOW)).toEqual(at);
  });

  it('is checked again after half a minute, and that counts for its account', () => {
    expect(planAsked({ checkedAt: NOW - 1000, again: 0 }, NOW)).toEqual({
      at: NOW - 1000 + HALF_A_MINUTE,
      isAgain: true,
    });
    expect(planAsked({ checkedAt: NOW - 31_000, again: 0 }, NOW)).toEqual({ at: NOW, isAgain: true });
  });

  it('of an account that has had its share waits until five minutes are over', () => {
    expect(planAsked({ checkedAt: NOW - 1000, again: 6 }, NOW)).toEqual({
      at: NOW - 1000 + FIVE_MINUTES,
      isAgain: false,
    });
  });

  it('asked for all the time is checked within half a minute of any moment', () => {
    let checkedAt: number | undefined;
    const checks: number[] = [];
    for (let now = NOW; now < NOW + 600_000; now += 250) {
      const { at } = planAsked({ checkedAt, again: 2 }, now);
      if (at > now) continue;
      checks.push(now);
      checkedAt = now;
    }
    expect(checks.length).toBe(20);
    for (const [i, at] of checks.slice(1).entries()) expect(at - (checks[i] as number)).toBe(HALF_A_MINUTE);
  });
});
