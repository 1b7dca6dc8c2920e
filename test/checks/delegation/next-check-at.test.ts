import { describe, expect, it } from 'vitest';
import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import { nextCheckAt } from '../../../src/checks/delegation/next-check-at.ts';
import type { Verdict } from '../../../src/checks/delegation/verdict.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 1_800_000_000_000;
const MISSES = { count: 1, firstAt: NOW, lastAt: NOW };

const state = (status: CheckState['status'], ageMs: number, misses?: CheckState['misses']): CheckState => ({
  status,
  since: NOW - ageMs,
  misses,
  conclusive: undefined,
  witnessAt: undefined,
});

const seen = (verdict: Verdict, oursShown?: boolean) => ({ verdict, oursShown, othersShown: oursShown });

it.each<[string, CheckState, Verdict, number]>([
  ['pending, new', state('pending', 0), 'unregistered', 60],
  ['pending, the clock went back', state('pending', -DAY), 'unknown', 60],
  ['pending, nearly 6 h', state('pending', 6 * HOUR - 1), 'match', 60],
  ['pending, 6 h', state('pending', 6 * HOUR), 'unknown', 300],
  ['pending, nearly 3 d', state('pending', 3 * DAY - 1), 'partial', 300],
  ['pending, 3 d', state('pending', 3 * DAY), 'foreign', 900],
  ['pending, nearly 7 d', state('pending', 7 * DAY - 1), 'foreign', 900],
  ['pending, 7 d', state('pending', 7 * DAY), 'foreign', 3600],
  ['pending, 89 d', state('pending', 89 * DAY), 'unknown', 3600],
  ['active', state('active', 90 * DAY), 'match', 43_200],
  ['active, some of our servers', state('active', DAY), 'partial', 43_200],
  ['active, nothing seen', state('active', DAY), 'unknown', 43_200],
  ['active, missed', state('active', DAY, MISSES), 'foreign', 3600],
  ['active, missed before, nothing seen now', state('active', DAY, MISSES), 'unknown', 3600],
  ['active, an unconfirmed miss', state('active', DAY), 'foreign', 3600],
  ['moved', state('moved', 0), 'foreign', 3600],
  ['moved long ago', state('moved', 13 * DAY), 'unknown', 3600],
  ['leaving', state('leaving', 0), 'match', 3600],
  ['ended', state('ended', 89 * DAY), 'foreign', 86_400],
  ['ended long ago', state('ended', 90 * DAY), 'unknown', 604_800],
])('%s: every so many seconds', (_, current, verdict, seconds) => {
  const at = (random: number) => nextCheckAt(current, seen(verdict), NOW, random);
  expect(at(0.5)).toMatchObject({ at: NOW + seconds * 1000, intervalSeconds: seconds });
  expect(at(0)).toMatchObject({ at: NOW + seconds * 800, intervalSeconds: seconds });
});

describe('the jitter', () => {
  it('spreads evenly over 20 % to both sides', () => {
    const after = Array.from(
      { length: 1000 },
      (_, i) => (nextCheckAt(state('moved', 0), seen('foreign'), NOW, i / 1000).at as number) - NOW,
    );
    expect(Math.min(...after)).toBe(0.8 * HOUR);
    expect(Math.max(...after)).toBeGreaterThan(1.199 * HOUR);
    expect(Math.max(...after)).toBeLessThan(1.2 * HOUR);
    expect(after.filter((ms) => ms < HOUR)).toHaveLength(500);
  });
});

it('a domain that ended long ago is looked at only while its parent shows a name of ours', () => {
  const ended = state('ended', 90 * DAY);
  expect(nextCheckAt(ended, seen('foreign', true), NOW, 0.5).intervalSeconds).toBe(604_800);
  expect(nextCheckAt(ended, seen('unregistered', false), NOW, 0.5).at).toBeUndefined();
});

describe('a pending domain whose checks see nothing', () => {
  const pending = state('pending', 0);
  const next = (before: number, isTryLater = false, current = pending, verdict: Verdict = 'unknown') =>
    nextCheckAt(current, seen(verdict), NOW, 0.5, { before, isTryLater });

  it('is checked at doubled intervals from the eleventh on, at most every 6 hours', () => {
    const intervals: number[] = [];
    for (let before = 0; intervals.length < 21; ) {
      const { intervalSeconds, unknowns } = next(before);
      intervals.push(intervalSeconds);
      before = unknowns;
    }
    expect(intervals.slice(0, 10)).toEqual(Array(10).fill(60));
    expect(intervals.slice(10)).toEqual([
      120, 240, 480, 960, 1920, 3840, 7680, 15_360, 21_600, 21_600, 21_600,
    ]);
  });

  it('is checked as usual again after a check that saw something', () => {
    expect(next(19, false, pending, 'foreign')).toMatchObject({ intervalSeconds: 60, unknowns: 0 });
  });

  it('is not checked later because we had no slot for it', () => {
    expect(next(12, true)).toMatchObject({ intervalSeconds: 240, unknowns: 12 });
    expect(next(0, true)).toMatchObject({ intervalSeconds: 60, unknowns: 0 });
  });

  it('is not checked later while the servers of its parent disagree, as they do after every change', () => {
    const heard = nextCheckAt(pending, seen('unknown'), NOW, 0.5, { before: 19, isHeard: true });
    expect(heard).toMatchObject({ intervalSeconds: 60, unknowns: 0 });
  });

  it('is the only kind that waits longer', () => {
    expect(next(19, false, state('active', DAY))).toMatchObject({ intervalSeconds: 43_200, unknowns: 0 });
    expect(next(19, false, state('moved', DAY))).toMatchObject({ intervalSeconds: 3600, unknowns: 0 });
  });

  it('waits no shorter than usual, and the count stays bounded', () => {
    expect(next(20, false, state('pending', 8 * DAY))).toMatchObject({
      intervalSeconds: 21_600,
      unknowns: 20,
    });
  });
});
