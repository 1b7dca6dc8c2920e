import { describe, expect, it } from 'vitest';
import { BatchPlaces, ByteBudget } from '../../src/api/requests/batch-limits.ts';
import { BodyPace } from '../../src/api/requests/body-pace.ts';

describe('the slots for batches', () => {
  function fresh() {
    const clock = { nowMs: 0 };
    const places = new BatchPlaces(() => clock.nowMs);
    const take = (...edges: number[]) => edges.map((edge) => places.take(edge));
    const beSlow = (...edges: number[]) => {
      for (const edge of edges) {
        expect(places.take(edge)).toBe(true);
        places.give(edge, true);
      }
    };
    return { clock, places, take, beSlow };
  }

  it('are six, and two per edge', () => {
    const { places, take } = fresh();
    expect(take(1, 1, 1)).toEqual([true, true, false]);
    expect(take(2, 3, 4, 5, 6)).toEqual([true, true, true, true, false]);
    places.give(3, false);
    expect(take(6)).toEqual([true]);
  });

  it('cannot all be used by three edges', () => {
    expect(fresh().take(1, 1, 2, 2, 3, 3, 4)).toEqual([true, true, true, true, true, false, true]);
  });

  it('can be used by slow edges up to a half, and one each', () => {
    const { places, take, beSlow } = fresh();
    beSlow(1, 2, 3, 4);
    expect(take(1, 1, 2, 3, 4)).toEqual([true, false, true, true, false]);
    places.give(1, false);
    expect(take(4)).toEqual([true]);
    expect(take(5, 6, 7, 8)).toEqual([true, true, true, false]);
  });

  it('are refused to slow edges if no more than two are free', () => {
    const { take, beSlow } = fresh();
    beSlow(1, 2);
    expect(take(5, 6, 7)).toEqual([true, true, true]);
    expect(take(1, 2)).toEqual([true, false]);
    expect(take(8, 9)).toEqual([true, true]);
  });

  it('are available again to an edge a minute after it was slow', () => {
    const { clock, take, beSlow } = fresh();
    beSlow(1);
    clock.nowMs = 59_999;
    expect(take(1, 1)).toEqual([true, false]);
    clock.nowMs = 60_000;
    expect(take(1)).toEqual([true]);
  });

  it('treat an edge as slow from the end of its slow batch, while its other batch continues', () => {
    const { places, take, beSlow } = fresh();
    expect(take(1, 1)).toEqual([true, true]);
    places.give(1, true);
    expect(take(1)).toEqual([false]);
    beSlow(2, 3);
    expect(take(2, 3, 4)).toEqual([true, true, true]);
    places.give(4, true);
    expect(take(4)).toEqual([false]);
  });
});

describe('a body', () => {
  const PACE = { graceMs: 5000, bytesASecond: 1000, mostMs: 30_000 };

  /** Pieces of a body, each with the time that the API waits for it, and the time that the API then needs. */
  function read(...pieces: (readonly [octets: number, waitMs: number, workMs?: number])[]): BodyPace {
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
  const trickle = (pieces: number) => read(...Array.from({ length: pieces }, () => [1, 100] as const));

  it.each([
    ['the grace, if nothing is sent', read(), 5000],
    ['the rest of the grace, if it trickles', trickle(49), 100],
    ['no longer than the grace, if it trickles', trickle(50), 0],
    ['as long as its octets allow', read([8000, 6000]), 2000],
    ['no longer than its octets allow', read([8000, 8000]), 0],
    ['the longest time after a burst', read([1_000_000, 0]), 30_000],
    ['no longer than the longest time', read([1_000_000, 30_000]), 0],
    ['without counting the time that the API needs', read([100, 10, 60_000]), 4990],
  ])('is waited for %s', (_, pace, ms) => expect(pace.wait(0)).toBe(ms));

  it('is slow if the wait exceeded a second and its rate is below four times the minimum', () => {
    for (const [pace, isSlow] of [
      [read([1, 1000]), false],
      [read([4000, 1001]), true],
      [read([5000, 1001]), false],
      [read([1, 900, 60_000]), false],
    ] as const)
      expect(pace.isSlow).toBe(isSlow);
    const brokenOff = new BodyPace(PACE);
    brokenOff.wait(1000);
    brokenOff.came(0, 3000);
    expect(brokenOff.isSlow).toBe(true);
  });
});

it('an edge may overdraw its budget of bytes once, and waits until it has filled again', () => {
  let nowMs = 0;
  const budget = new ByteBudget({ bytes: 1000, bytesASecond: 100 }, () => nowMs);
  expect(budget.judge(1)).toBeUndefined();
  budget.take(1, 1500);
  expect([budget.judge(1), budget.judge(2)]).toEqual([6, undefined]);
  nowMs = 5000;
  expect(budget.judge(1)).toBe(1);
  nowMs = 5010;
  expect(budget.judge(1)).toBeUndefined();
  nowMs = 1_000_000;
  budget.take(1, 1000);
  expect(budget.judge(1)).toBe(1);
});
