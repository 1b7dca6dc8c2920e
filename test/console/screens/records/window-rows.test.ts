// Which rows of a long list are drawn.

import { describe, expect, it } from 'vitest';
import {
  drawSome,
  FIRST_SHARE,
  heightOf,
  indexAt,
  nextShare,
  offsetOf,
  rowsInSight,
} from '../../../../console/src/screens/records/window-rows.ts';

const plain = { count: 10_000, rowHeight: 40, open: [] };
const opened = {
  count: 100,
  rowHeight: 40,
  open: [
    { index: 3, extra: 200 },
    { index: 50, extra: 100 },
  ],
};

describe('a list of rows', () => {
  it('knows where each row is, also below open ones', () => {
    expect(offsetOf(opened, 3)).toBe(120);
    expect(offsetOf(opened, 4)).toBe(360);
    expect(heightOf(opened)).toBe(100 * 40 + 300);
  });

  it('finds the row at every place', () => {
    for (let index = 0; index < opened.count; index++) {
      expect(indexAt(opened, offsetOf(opened, index))).toBe(index);
      expect(indexAt(opened, offsetOf(opened, index + 1) - 1)).toBe(index);
    }
    expect(indexAt(opened, -500)).toBe(0);
    expect(indexAt(opened, 1e9)).toBe(99);
  });

  it('draws what is in sight and a bounded number around it', () => {
    for (let top = 0; top < heightOf(plain); top += 3777) {
      const rows = rowsInSight(plain, top, 900, []);
      expect(rows.length).toBeLessThanOrEqual(50);
      expect(rows).toContain(indexAt(plain, top));
      expect(rows).toContain(indexAt(plain, Math.min(top + 900, heightOf(plain) - 1)));
    }
  });

  it('draws what must be there, in order', () => {
    const rows = rowsInSight(plain, 4000, 400, [9999, 0, 20_000, -1]);
    expect(rows[0]).toBe(0);
    expect(rows.at(-1)).toBe(9999);
    expect(rows).toEqual([...rows].sort((a, b) => a - b));
  });

  it('draws what is new over several frames, and keeps what is there', () => {
    const wanted = rowsInSight(plain, 4000, 900, []);
    let there: readonly number[] = wanted.slice(-3);
    while (there.length < wanted.length) {
      const next = drawSome(wanted, (index) => there.includes(index), 5);
      expect(next.length - there.length).toBe(Math.min(5, wanted.length - there.length));
      expect(next).toEqual(expect.arrayContaining([...there]));
      there = next;
    }
    expect(there).toEqual(wanted);
  });

  it('draws less in a frame after late ones, but always some, and no more than a frame has', () => {
    let share = FIRST_SHARE;
    for (let i = 0; i < 20; i++) share = nextShare(share, 100);
    expect(share).toBe(2);
    for (let i = 0; i < 50; i++) share = nextShare(share, 17);
    expect(share).toBe(16);
  });

  it('draws nothing of nothing', () => {
    expect(rowsInSight({ count: 0, rowHeight: 40, open: [] }, 0, 900, [0])).toEqual([]);
  });
});
