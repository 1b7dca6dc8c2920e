// A term is bought or switched to as the API wants it; limits are told in full.

import { describe, expect, it } from 'vitest';
import { percentOf, subscriptionInForce, wayToBuy } from '../../../../console/src/screens/plan/plan-terms.ts';

const now = Date.parse('2026-11-28T12:00:00Z');
const paid = { status: 'active', plan_term_id: 3, expires_at: '2026-12-28T12:00:00Z' };

describe('wayToBuy', () => {
  it('switches while paid time is left', () => {
    expect(wayToBuy(paid, now)).toBe('switch');
    expect(wayToBuy({ ...paid, status: 'cancelled' }, now)).toBe('switch');
  });

  it('buys without, in grace, and after a trial or a plan without term', () => {
    expect(wayToBuy(undefined, now)).toBe('purchase');
    expect(wayToBuy({ ...paid, status: 'grace', expires_at: '2026-11-27T12:00:00Z' }, now)).toBe('purchase');
    expect(wayToBuy({ ...paid, plan_term_id: undefined }, now)).toBe('purchase');
    expect(wayToBuy({ status: 'active', plan_term_id: 3 }, now)).toBe('purchase');
  });
});

describe('subscriptionInForce', () => {
  it('is the newest that has not ended', () => {
    const ended = { ...paid, status: 'expired' };
    expect(subscriptionInForce([ended, paid])).toBe(paid);
    expect(subscriptionInForce([ended])).toBeUndefined();
  });
});

describe('percentOf', () => {
  it('is at most 100, and absent without a limit', () => {
    expect(percentOf(50, 200)).toBe(25);
    expect(percentOf(300, 200)).toBe(100);
    expect(percentOf(5, null)).toBeUndefined();
    expect(percentOf(0, 0)).toBe(0);
    expect(percentOf(1, 0)).toBe(100);
  });
});
