import { expect, it } from 'vitest';
import { giveBackOf } from '../../src/billing/give-back.ts';

const DAY = 86_400_000;
const START = new Date('2026-03-01T00:00:00Z');
const on = (days: number) => new Date(START.getTime() + days * DAY);
const period = { paidRials: 100, start: START, end: on(3), fundedBy: null, fundedRials: 0 };

it.each([
  [0, 100],
  [1, 66],
  [2, 33],
  [3, 0],
  [9, 0],
])('after %d of 3 days is %d of 100', (days, rials) => {
  expect(giveBackOf([period], on(days))).toEqual({ totalRials: rials, funders: new Map() });
});

it('is complete before the start, exact for the maximum of a wallet, and split among the payers', () => {
  const next = { ...period, paidRials: 101, start: on(3), end: on(6) };
  expect(giveBackOf([period, next], on(2)).totalRials).toBe(33 + 101);
  const most = { ...period, paidRials: 1_000_000_000_000_000 };
  expect(giveBackOf([most], on(1)).totalRials).toBe(666_666_666_666_666);
  const both = { ...period, fundedBy: 7, fundedRials: 50 };
  expect(giveBackOf([both], on(1))).toEqual({ totalRials: 66, funders: new Map([[7, 33]]) });
  expect(giveBackOf([both], on(2))).toEqual({ totalRials: 33, funders: new Map([[7, 17]]) });
});

it('leaves a client nothing of what its reseller paid alone, and each reseller gets its own share', () => {
  const alone = { ...period, fundedBy: 7, fundedRials: 100 };
  const again = { ...alone, paidRials: 10, fundedRials: 10 };
  const other = { ...alone, fundedBy: 8, fundedRials: 1 };
  const funders = new Map([
    [7, 110],
    [8, 1],
  ]);
  expect(giveBackOf([alone, again, other, period], START)).toEqual({ totalRials: 310, funders });
});
