// Checks as spans of time: what was seen counts until something else was seen.

import { describe, expect, it } from 'vitest';
import {
  placeMoment,
  placeSpans,
  type Span,
  spansOf,
  type TimelineCheck,
  transitionsOf,
} from '../../../../console/src/screens/delegation/timeline.ts';

const at = (minute: number) => new Date(minute * 60_000).toISOString();
const ms = (minute: number) => minute * 60_000;

function check(
  id: number,
  minute: number,
  verdict: string,
  more: Partial<TimelineCheck> = {},
): TimelineCheck {
  const status = { status_before: 'pending', status_after: 'pending' };
  return { id, finished_at: at(minute), last_seen_at: at(minute), repeated: 0, verdict, ...status, ...more };
}

describe('spansOf', () => {
  it('lasts until something else is seen, the newest until now', () => {
    expect(spansOf([check(3, 30, 'match'), check(1, 10, 'foreign')], ms(60))).toEqual([
      { id: 1, verdict: 'foreign', fromMs: ms(10), toMs: ms(30), looks: 1 },
      { id: 3, verdict: 'match', fromMs: ms(30), toMs: ms(60), looks: 1 },
    ]);
  });

  it('makes one span of checks in a row that saw the same, with all their looks', () => {
    const checks = [
      check(4, 40, 'foreign', { repeated: 2 }),
      check(3, 30, 'unknown'),
      check(2, 20, 'foreign'),
      check(1, 10, 'foreign', { repeated: 5 }),
    ];
    expect(spansOf(checks, ms(50)).map(({ id, verdict, looks }) => [id, verdict, looks])).toEqual([
      [1, 'foreign', 7],
      [3, 'unknown', 1],
      [4, 'foreign', 3],
    ]);
  });

  it('never ends before it begins, wherever clocks stand', () => {
    for (const { fromMs, toMs } of spansOf([check(2, 10, 'match'), check(1, 20, 'foreign')], ms(5))) {
      expect(toMs).toBeGreaterThanOrEqual(fromMs);
    }
    expect(spansOf([], ms(1))).toEqual([]);
  });
});

describe('transitionsOf', () => {
  it('finds the checks that changed the status, the oldest first', () => {
    const checks = [
      check(3, 30, 'match', { status_before: 'moved', status_after: 'active' }),
      check(2, 20, 'foreign'),
      check(1, 10, 'match', { status_after: 'active' }),
    ];
    expect(transitionsOf(checks)).toEqual([
      { id: 1, atMs: ms(10), from: 'pending', to: 'active' },
      { id: 3, atMs: ms(30), from: 'moved', to: 'active' },
    ]);
  });
});

const span = (fromMs: number, toMs: number): Span => ({
  id: fromMs,
  verdict: 'match',
  fromMs,
  toMs,
  looks: 1,
});

describe('placeSpans', () => {
  it('fills the width, in proportion, and keeps a short span visible', () => {
    const placed = placeSpans([span(0, 1), span(1, 1000), span(1000, 10_000)], 1000, 6);
    expect(placed[0]?.width).toBeGreaterThanOrEqual(6);
    expect(placed.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1000);
    expect((placed[2]?.width ?? 0) > (placed[1]?.width ?? 0)).toBe(true);
    expect(placed[1]?.x).toBeCloseTo(placed[0]?.width ?? 0);
  });

  it('shares the width where there are more spans than have room, and where all took no time', () => {
    const many = Array.from({ length: 400 }, (_, i) => span(i, i + 1));
    expect(placeSpans(many, 1000, 6).map(({ width }) => width)).toEqual(many.map(() => 2.5));
    expect(placeSpans([span(5, 5), span(5, 5)], 100, 6).map(({ width }) => width)).toEqual([50, 50]);
    expect(placeSpans([], 100, 6)).toEqual([]);
  });
});

describe('placeMoment', () => {
  it('is where the moment is in its span, and inside the strip in any case', () => {
    const placed = placeSpans([span(0, 100), span(100, 200)], 100, 0);
    expect(placeMoment(placed, 50)).toBeCloseTo(25);
    expect(placeMoment(placed, 100)).toBeCloseTo(50);
    expect(placeMoment(placed, -5)).toBe(0);
    expect(placeMoment(placed, 999)).toBeCloseTo(100);
    expect(placeMoment([], 1)).toBe(0);
  });
});
