import { describe, expect, it } from 'vitest';
import { judgeBuying } from '../../src/billing/buy-term.ts';
import { beginSubscription, beginTrial, type SubscriptionState } from '../../src/billing/subscription.ts';

const DAY = 86_400_000;
const START = new Date('2026-03-01T00:00:00Z');
const on = (days: number) => new Date(START.getTime() + days * DAY);
const PAID = { id: 1, days: 30, priceRials: 900 };
const OTHER = { id: 2, days: 10, priceRials: 100 };
const FREE = { id: 3, days: 30, priceRials: 0 };
const paid = beginSubscription(START, PAID);
const grace: SubscriptionState = { ...paid, status: 'grace', graceUntil: on(37) };

describe('a purchase', () => {
  it.each([
    ['no subscription', undefined],
    ['a free one', beginSubscription(START, FREE)],
    ['one without an end', beginSubscription(START, null)],
    ['a trial', beginTrial(START, 14)],
    ['one that has just expired', { ...paid, expiresAt: on(5) }],
  ])('counts from now on with %s', (_, own) => {
    const buying = judgeBuying(own, { kind: 'purchase', term: OTHER, at: on(5) });
    expect(buying).toEqual({ kind: 'buys', start: on(5), end: on(15) });
  });

  it('in grace covers the time since the end', () => {
    const buying = judgeBuying(grace, { kind: 'purchase', term: OTHER, at: on(33) });
    expect(buying).toEqual({ kind: 'buys', start: on(30), end: on(40) });
  });

  it('in grace of a term not longer than the time already served is refused as too cheap', () => {
    const term = { ...OTHER, days: 2 };
    const buy = (day: number) => judgeBuying(grace, { kind: 'purchase', term, at: on(day) });
    expect(buy(32)).toEqual({
      kind: 'refused',
      message: expect.stringContaining(`wait until ${on(37).toISOString()}`),
    });
    expect(buy(31.9)).toMatchObject({ start: on(30), end: on(32) });
    const lastPaid = { expiresAt: on(30), endedAt: on(33) };
    const later = { kind: 'purchase', term, lastPaid } as const;
    expect(judgeBuying(undefined, { ...later, at: on(36.9) })).toMatchObject({ kind: 'refused' });
    expect(judgeBuying(undefined, { ...later, at: on(37) })).toMatchObject({ start: on(37) });
  });

  const left = { expiresAt: on(30), endedAt: on(36) };
  const free = beginSubscription(on(36), FREE);

  it('of a free term in grace counts from now on', () => {
    const buying = judgeBuying(grace, { kind: 'purchase', term: FREE, at: on(36) });
    expect(buying).toEqual({ kind: 'buys', start: on(36), end: on(66) });
  });

  it.each([
    ['immediately after a switch to a free term: for the whole time in grace', 36, 30],
    ['later: for the time in grace, but not for the free term', 36.5, 30.5],
    ['a week after the old end: for nothing', 37, 37],
  ])('pays for grace %s', (_, at, start) => {
    const order = { kind: 'purchase', term: OTHER, at: on(at), lastPaid: left } as const;
    expect(judgeBuying(free, order)).toMatchObject({ start: on(start) });
    expect(judgeBuying(undefined, order)).toMatchObject({ start: on(start) });
  });

  it('pays for no grace if none was served, and for none with a free term', () => {
    const order = { kind: 'purchase', term: OTHER, at: on(33) } as const;
    const lastPaid = { expiresAt: on(32), endedAt: on(32) };
    expect(judgeBuying(free, { ...order, lastPaid })).toMatchObject({ start: on(33) });
    expect(judgeBuying({ ...grace, term: FREE }, order)).toMatchObject({ start: on(33) });
  });

  it.each([
    ['active', paid],
    ['cancelled', { ...paid, status: 'cancelled' as const }],
  ])('is refused while paid time is left: %s', (_, own) => {
    const at = new Date(on(30).getTime() - 1);
    expect(judgeBuying(own, { kind: 'purchase', term: OTHER, at })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('2026-03-31T00:00:00.000Z: switch'),
    });
  });
});

describe('a switch', () => {
  it('counts from now on', () => {
    const buying = judgeBuying(paid, { kind: 'switch', term: OTHER, at: on(3) });
    expect(buying).toEqual({ kind: 'buys', start: on(3), end: on(13) });
  });

  it.each([
    ['without a subscription', undefined],
    ['from a free one', beginSubscription(START, FREE)],
    ['from a trial', beginTrial(START, 14)],
    ['in grace', grace],
  ])('is refused %s', (_, own) => {
    expect(judgeBuying(own, { kind: 'switch', term: OTHER, at: on(5) }).kind).toBe('refused');
  });

  it('to the same term is refused', () => {
    expect(judgeBuying(paid, { kind: 'switch', term: PAID, at: on(5) }).kind).toBe('refused');
  });
});
