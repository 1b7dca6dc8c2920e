import { describe, expect, it } from 'vitest';
import {
  type Bucket,
  bucketText,
  type Counts,
  curvesOf,
  edgePeriodOf,
  moved,
  periodOf,
  ranked,
  shareOf,
  zoomed,
} from '../../../../console/src/screens/traffic/series.ts';

const bucket = (types: Counts): Bucket => ({ timestamp: '', count: 0, types, rcodes: {} });

describe('curves', () => {
  it('are shown for every kind if there are few kinds, the largest first', () => {
    const curves = curvesOf([bucket({ A: 1, MX: 9 }), bucket({ A: 2 })], 'types', 3, 'other');
    expect(curves).toEqual([
      { key: 'MX', counts: [9, 0] },
      { key: 'A', counts: [1, 2] },
    ]);
  });

  it('combine small kinds and unnamed ones into one', () => {
    const curves = curvesOf([bucket({ A: 9, MX: 5, TXT: 2, NS: 1, other: 20 })], 'types', 3, 'other');
    expect(curves).toEqual([
      { key: 'A', counts: [9] },
      { key: 'MX', counts: [5] },
      { key: 'other', counts: [23] },
    ]);
  });

  it('lose no query', () => {
    const types = { A: 3, AAAA: 3, MX: 2, TXT: 2, NS: 1, SOA: 1, CAA: 1, other: 4 };
    const sum = curvesOf([bucket(types)], 'types', 4, 'other').flatMap(({ counts }) => counts);
    expect(sum.reduce((a, b) => a + b)).toBe(17);
  });

  it('handle kinds with the names of object members', () => {
    const types: Counts = JSON.parse('{"__proto__": 4, "constructor": 2}');
    expect(ranked(types)).toEqual([
      ['__proto__', 4],
      ['constructor', 2],
    ]);
    expect(shareOf({ A: 1 }, 'constructor')).toBe(0);
  });
});

it('has a share of 0 if the total is 0', () => {
  expect(shareOf({}, 'NXDOMAIN')).toBe(0);
  expect(shareOf({ NOERROR: 3, NXDOMAIN: 1 }, 'NXDOMAIN')).toBe(0.25);
});

describe('a range', () => {
  const whole = [0, 100] as const;

  it('is zoomed around its middle, within the whole', () => {
    expect(zoomed(whole, 0.5, whole)).toEqual([25, 75]);
    expect(zoomed([80, 100], 2, whole)).toEqual([60, 100]);
    expect(zoomed([25, 75], 4, whole)).toEqual([0, 100]);
  });

  it('keeps its length at the edges', () => {
    expect(moved([0, 20], -0.5, whole)).toEqual([0, 20]);
    expect(moved([70, 90], 1, whole)).toEqual([80, 100]);
    expect(moved([20, 40], 0.5, whole)).toEqual([30, 50]);
  });
});

it('falls back to a day for an unknown period, and has no minutes for edges', () => {
  expect([periodOf('7d'), periodOf('9y'), periodOf(undefined)]).toEqual(['7d', '24h', '24h']);
  expect([edgePeriodOf('1h'), edgePeriodOf('30d')]).toEqual(['3h', '30d']);
});

it('has no time for a day', () => {
  expect(bucketText('2026-11-28T00:00:00.000Z', 'day')).toBe('2026-11-28');
  expect(bucketText('2026-11-28T12:05:00.000Z', 'minute')).toBe('2026-11-28 12:05');
});
