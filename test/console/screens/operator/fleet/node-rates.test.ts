import { describe, expect, it } from 'vitest';
import { ratesOf, turnedByHour } from '../../../../../console/src/screens/operator/fleet/node-rates.ts';

const node = (
  seconds: number,
  answered?: number,
  dropped?: number,
  started = '2026-01-01T00:00:00.000Z',
) => ({
  name: 'ams1',
  started_at: started,
  seen_at: new Date(Date.UTC(2026, 0, 2, 0, 0, seconds)).toISOString(),
  answered,
  dropped,
});

describe('what a node does a second', () => {
  it('is the difference between two looks', () => {
    const rates = ratesOf([node(0, 1000, 5)], [node(10, 3000, 15)]);
    expect(rates.get('ams1')).toEqual({ answered: 200, dropped: 1 });
  });

  it.each([
    ['it was seen once', undefined, node(10, 5, 5)],
    ['it has not reported since', node(10, 5, 5), node(10, 5, 5)],
    ['it was started anew', node(0, 5, 5), node(10, 50, 50, '2026-01-02T00:00:05.000Z')],
    ['it does not tell', node(0), node(10)],
    ['it told less than before', node(0, 50, 5), node(10, 5, 5)],
  ])('is not known where %s', (_why, before, after) => {
    expect(ratesOf(before && [before], [after]).size).toBe(0);
  });
});

it('hours without a check stand as none, the newest hour last', () => {
  const hours = [
    { hour: '2026-01-02T10:00:00.000Z', checked: 10, turned: 7 },
    { hour: '2026-01-02T08:00:00.000Z', checked: 6, turned: 3 },
    { hour: '2026-01-01T10:00:00.000Z', checked: 99, turned: 99 },
  ];
  const counts = turnedByHour(hours, Date.parse('2026-01-02T10:59:59.000Z'));
  expect(counts).toHaveLength(24);
  expect(counts.slice(-3)).toEqual([0.5, 0, 0.7]);
  expect(counts.slice(0, -3)).toEqual(Array(21).fill(0));
});
