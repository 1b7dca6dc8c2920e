import { expect, it } from 'vitest';
import { judgePaid, stateOf } from '../../src/billing/topup.ts';

const at = new Date('2026-03-01T12:00:00Z');
const open = { amountRials: 50_000, expiresAt: new Date(at.getTime() + 1), paidAt: null, cancelledAt: null };
const expired = { ...open, expiresAt: at };
const paid = { ...expired, paidAt: at };

it.each([
  [open, 'open'],
  [expired, 'expired'],
  [paid, 'paid'],
  [{ ...open, cancelledAt: at }, 'cancelled'],
  [{ ...expired, cancelledAt: at }, 'cancelled'],
  [{ ...paid, cancelledAt: at }, 'paid'],
] as const)('is open until it expires, is cancelled or is paid', (topup, state) => {
  expect(stateOf(topup, at)).toBe(state);
});

it.each([
  ['our amount', open, 50_000, 'credit'],
  ['our amount, late: the money has arrived', expired, 50_000, 'credit'],
  ['our amount, cancelled: the money has arrived', { ...open, cancelledAt: at }, 50_000, 'credit'],
  ['our amount, again', paid, 50_000, 'already'],
  ['more', open, 50_001, 'differs'],
  ['less', open, 49_999, 'differs'],
  ['less, again', paid, 49_999, 'differs'],
  ['confirmed by an operator', expired, undefined, 'credit'],
  ['confirmed by an operator, again', paid, undefined, 'already'],
] as const)('%s', (_, topup, told, kind) => {
  expect(judgePaid(topup, told)).toEqual({ kind });
});
