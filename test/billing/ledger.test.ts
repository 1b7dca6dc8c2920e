import { expect, it } from 'vitest';
import { floorOf, overdueSince, shortfallOf } from '../../src/billing/ledger.ts';

const purse = (balanceRials: number, floorRials = 0) => ({ balanceRials, floorRials });

it('lets resellers alone go below zero', () => {
  expect(floorOf({ isReseller: true }, 500)).toBe(-500);
  expect(floorOf({ isReseller: false }, 500) === 0).toBe(true);
});

it.each([
  ['all from the own wallet', 100, purse(100), undefined, 0],
  ['one rial is missing', 100, purse(99), undefined, undefined],
  ['a reseller pays below zero', 100, purse(0, -100), undefined, 0],
  ['not one rial further', 101, purse(0, -100), undefined, undefined],
  ['a client that has enough needs no reseller', 100, purse(100), purse(-9), 0],
  ['its reseller adds what is missing', 100, purse(30), purse(70), 70],
  ['as far down as it may', 100, purse(30), purse(0, -70), 70],
  ['not one rial further down', 100, purse(30), purse(0, -69), undefined],
  ['a client below zero is brought to zero too', 100, purse(-5), purse(105), 105],
])('%s', (_, price, own, reseller, missing) => {
  expect(shortfallOf(price, own, reseller)).toBe(missing);
});

it('a debt is overdue when its days are over', () => {
  const at = new Date('2026-03-08T12:00:00Z');
  expect(overdueSince(at, 7)).toEqual(new Date('2026-03-01T12:00:00Z'));
  expect(overdueSince(at, 0)).toEqual(at);
});
