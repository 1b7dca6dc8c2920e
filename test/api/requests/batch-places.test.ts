import { beforeEach, describe, expect, it } from 'vitest';
import { BatchPlaces } from '../../../src/api/requests/batch-places.ts';

let nowMs: number;
let places: BatchPlaces;
beforeEach(() => {
  nowMs = 0;
  places = new BatchPlaces(() => nowMs);
});

/** Which of them get a place. */
const take = (...edges: number[]) => edges.map((edge) => places.take(edge));
/** These were slow, and are over. */
const wereSlow = (...edges: number[]) => {
  for (const edge of edges) {
    expect(places.take(edge)).toBe(true);
    places.give(edge, true);
  }
};

describe('places for batches', () => {
  it('are six, and two for an edge', () => {
    expect(take(1, 1, 1)).toEqual([true, true, false]);
    expect(take(2, 3, 4, 5, 6)).toEqual([true, true, true, true, false]);
    places.give(3, false);
    expect(take(6)).toEqual([true]);
  });

  it('three edges that take all that they get leave one for others', () => {
    expect(take(1, 1, 2, 2, 3, 3, 4)).toEqual([true, true, true, true, true, false, true]);
  });

  it('edges that were slow take half of them at most, and one each', () => {
    wereSlow(1, 2, 3, 4);
    expect(take(1, 1, 2, 3, 4)).toEqual([true, false, true, true, false]);
    places.give(1, false);
    expect(take(4)).toEqual([true]);
    expect(take(5, 6, 7, 8)).toEqual([true, true, true, false]);
  });

  it('and none of the last two', () => {
    wereSlow(1, 2);
    expect(take(5, 6, 7)).toEqual([true, true, true]);
    expect(take(1, 2)).toEqual([true, false]);
    expect(take(8, 9)).toEqual([true, true]);
  });

  it('a minute later, an edge that was slow is as any other', () => {
    wereSlow(1);
    nowMs = 59_999;
    expect(take(1, 1)).toEqual([true, false]);
    nowMs = 60_000;
    expect(take(1)).toEqual([true]);
  });

  it('of a slow batch the edge is slow at its end, while its other goes on', () => {
    expect(take(1, 1)).toEqual([true, true]);
    places.give(1, true);
    expect(take(1)).toEqual([false]);
    wereSlow(2, 3);
    expect(take(2, 3, 4)).toEqual([true, true, true]);
    places.give(4, true);
    expect(take(4)).toEqual([false]);
  });
});
