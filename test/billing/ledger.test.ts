import { describe, expect, it } from 'vitest';
import { bookOn, floorOf, overdueSince, shortfallOf, type WalletState } from '../../src/billing/ledger.ts';

const purse = (balanceRials: number, floorRials = 0) => ({ balanceRials, floorRials });

it('allows only resellers a negative balance', () => {
  expect(floorOf({ isReseller: true }, 500)).toBe(-500);
  expect(floorOf({ isReseller: false }, 500) === 0).toBe(true);
});

it.each([
  ["everything from the account's own wallet", 100, purse(100), undefined, 0],
  ['one rial is missing', 100, purse(99), undefined, undefined],
  ['a reseller may go negative', 100, purse(0, -100), undefined, 0],
  ['but not one rial further', 101, purse(0, -100), undefined, undefined],
  ['a client with enough money needs no reseller', 100, purse(100), purse(-9), 0],
  ['its reseller adds the missing amount', 100, purse(30), purse(70), 70],
  ['down to its limit', 100, purse(30), purse(0, -70), 70],
  ['but not one rial further down', 100, purse(30), purse(0, -69), undefined],
  ['a negative client is also raised to zero', 100, purse(-5), purse(105), 105],
])('%s', (_, price, own, reseller, missing) => {
  expect(shortfallOf(price, own, reseller)).toBe(missing);
});

it('a debt is overdue after its grace period', () => {
  const at = new Date('2026-03-08T12:00:00Z');
  expect(overdueSince(at, 7)).toEqual(new Date('2026-03-01T12:00:00Z'));
  expect(overdueSince(at, 0)).toEqual(at);
});

describe('the age of a debt', () => {
  const DAY = 86_400_000;
  const on = (days: number) => new Date(Date.UTC(2026, 2, 1) + days * DAY);
  const NEW: WalletState = { balanceRials: 0, negativeSince: null, givenBackRials: 0, debtMs: null };
  const play = (...steps: readonly (readonly [day: number, amount: number, back?: 'back'])[]) =>
    steps.reduce(
      (wallet, [day, amountRials, back]) =>
        bookOn(wallet, { amountRials, isGivenBack: back !== undefined, at: on(day) }),
      NEW,
    );
  const clean = { negativeSince: null, givenBackRials: 0, debtMs: null };

  it('starts below zero, ends with incoming money at zero, and resumes if only a refund settled it', () => {
    expect(play([0, -100], [2, -50])).toMatchObject({ balanceRials: -150, negativeSince: on(0) });
    expect(play([0, -100], [6, 100])).toEqual({ balanceRials: 0, ...clean });
    expect(play([0, -100], [6, 100], [9, -1])).toMatchObject({ negativeSince: on(9) });
    const settled = play([0, -100], [6, 500, 'back']);
    expect(settled).toEqual({ balanceRials: 400, negativeSince: null, givenBackRials: 500, debtMs: 6 * DAY });
    const again = play([0, -100], [6, 500, 'back'], [20, -500]);
    expect(again).toMatchObject({ balanceRials: -100, negativeSince: on(14), debtMs: null });
  });

  it('ends once as much was paid as was owed, and is not restarted by a refund', () => {
    const there = [
      [0, -100],
      [6, 500, 'back'],
      [6, -500],
    ] as const;
    expect(play(...there, [7, 100])).toEqual({ balanceRials: 0, ...clean });
    expect(play([0, -100], [6, 500, 'back'], [6, 1], [6, -500])).toMatchObject({ negativeSince: on(0) });
    expect(play([0, -100], [6, 500, 'back'], [6, 100])).toEqual({ balanceRials: 500, ...clean });
    expect(play([0, 100], [1, 500, 'back'], [2, -600])).toEqual({ balanceRials: 0, ...clean });
  });
});
