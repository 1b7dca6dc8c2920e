import { describe, expect, it } from 'vitest';
import {
  afterFailure,
  CLOSE_RULE,
  EMAIL_RULE,
  type FailureRule,
  secondsToWait,
} from '../../../src/api/people/failure-rules.ts';
import type { Failures } from '../../../src/store/people/sign-in-attempts.ts';

const MINUTE = 60_000;
const at = (ms: number) => new Date(Date.parse('2026-03-01T12:00:00Z') + ms);
const NONE: Failures = { count: 0, windowEndsAt: at(0), blocks: 0, blockedUntil: null };

function failing(times: number, rule: FailureRule, before = NONE, nowMs = 0): Failures {
  let state = before;
  for (let i = 0; i < times; i++) state = afterFailure(state, at(nowMs), rule);
  return state;
}

describe('failures of one network', () => {
  it('do not block it up to nine in 15 minutes, and the tenth blocks it for 15 minutes', () => {
    const nine = failing(9, CLOSE_RULE);
    expect(secondsToWait(nine, at(0), CLOSE_RULE, 0)).toBeUndefined();
    expect(secondsToWait(failing(1, CLOSE_RULE, nine), at(0), CLOSE_RULE, 0)).toBe(900);
  });

  it('are counted again from zero after 15 minutes', () => {
    const nine = failing(9, CLOSE_RULE);
    expect(
      secondsToWait(failing(9, CLOSE_RULE, nine, 15 * MINUTE), at(15 * MINUTE), CLOSE_RULE, 0),
    ).toBeUndefined();
  });

  it('block it twice as long each time, but never longer than a day', () => {
    let state = NONE;
    let nowMs = 0;
    const waits = Array.from({ length: 9 }, () => {
      state = failing(10, CLOSE_RULE, state, nowMs);
      const seconds = secondsToWait(state, at(nowMs), CLOSE_RULE, 0) as number;
      nowMs += seconds * 1000;
      return seconds / 60;
    });
    expect(waits).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
  });

  it('include attempts in progress, so that concurrent attempts do not bypass the limit', () => {
    expect(secondsToWait(failing(7, CLOSE_RULE), at(0), CLOSE_RULE, 2)).toBeUndefined();
    expect(secondsToWait(failing(7, CLOSE_RULE), at(0), CLOSE_RULE, 3)).toBe(1);
    expect(secondsToWait(undefined, at(0), CLOSE_RULE, 10)).toBe(1);
  });

  it('are not forgotten if the clock is set back', () => {
    const nine = failing(9, CLOSE_RULE);
    expect(secondsToWait(failing(1, CLOSE_RULE, nine, -60 * MINUTE), at(-60 * MINUTE), CLOSE_RULE, 0)).toBe(
      900,
    );
  });
});

it('failures for one email address block it at most for the rest of the hour, however many there are', () => {
  const state = failing(100, EMAIL_RULE, failing(100, EMAIL_RULE), 60 * MINUTE);
  expect(secondsToWait(state, at(60 * MINUTE), EMAIL_RULE, 0)).toBe(3600);
  expect(secondsToWait(state, at(120 * MINUTE), EMAIL_RULE, 0)).toBeUndefined();
});
