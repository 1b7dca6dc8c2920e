import { describe, expect, it } from 'vitest';
import { addDays, beginSubscription, beginTrial, nextSubscription } from '../../src/billing/subscription.ts';
import { firstDifference } from '../support/billing/play-history.ts';
import { scale } from '../support/tests/scale.ts';

const START = new Date('2026-01-01T12:00:00Z');
const FREE = { id: 1, days: 30, priceRials: 0 };
const PRICED = { id: 2, days: 30, priceRials: 500 };
const day = (days: number) => addDays(START, days);

describe('a subscription', () => {
  it('without a term never ends, and a free one is renewed 3 days before its end', () => {
    const given = beginSubscription(START, null);
    expect(given).toMatchObject({ status: 'active', expiresAt: null, autoRenew: false });
    expect(nextSubscription(given, day(100_000))).toEqual({ kind: 'wait', dueAt: null });
    const own = beginSubscription(START, FREE);
    expect(own.expiresAt).toEqual(day(30));
    expect(nextSubscription(own, day(26.9))).toEqual({ kind: 'wait', dueAt: day(27) });
    expect(nextSubscription(own, day(27))).toEqual({
      kind: 'become',
      next: { ...own, expiresAt: day(60) },
    });
  });

  it('that is not paid is served for 7 more days, and then replaced by free', () => {
    let own = beginSubscription(START, PRICED);
    const asked: Date[] = [];
    for (let hours = 0; hours < 24 * 50; hours++) {
      const at = day(hours / 24);
      const step = nextSubscription(own, at);
      if (step.kind === 'charge') {
        expect(step.priceRials).toBe(500);
        asked.push(at);
        own = step.unpaid;
      } else if (step.kind === 'become') {
        expect([at, step.next.status, step.next.graceUntil]).toEqual([day(30), 'grace', day(37)]);
        own = step.next;
      } else if (step.kind === 'end') {
        expect([at, step.endedAt, step.next.status]).toEqual([day(37), day(37), 'expired']);
        own = step.next;
      }
      if (step.kind !== 'wait') hours--; // another step is due at this time
    }
    expect(asked).toEqual([27, 30, 31, 32, 33, 34, 35, 36].map(day));
    expect(own).toMatchObject({ status: 'expired', graceUntil: day(37), endedAt: day(37) });
  });

  it('is followed by free from its end on, however late the worker is', () => {
    const grace = nextSubscription(beginSubscription(START, PRICED, { autoRenew: false }), day(500));
    if (grace.kind !== 'become') throw new Error(grace.kind);
    expect(nextSubscription(grace.next, day(500))).toMatchObject({ kind: 'end', endedAt: day(37) });
  });

  it('that is a trial ends without grace, even if it is cancelled', () => {
    const trial = beginTrial(START, 14);
    expect(trial).toMatchObject({ isTrial: true, autoRenew: false, expiresAt: day(14) });
    expect(nextSubscription(trial, day(13.9))).toEqual({ kind: 'wait', dueAt: day(14) });
    expect(nextSubscription(trial, day(14))).toMatchObject({ kind: 'end', next: { status: 'expired' } });
    expect(nextSubscription({ ...trial, status: 'cancelled' } as const, day(14))).toMatchObject({
      kind: 'end',
      next: { status: 'cancelled' },
    });
  });

  it('is paid once per term, and never for past time', () => {
    const late = nextSubscription(beginSubscription(START, PRICED), day(200));
    if (late.kind !== 'charge') throw new Error(late.kind);
    expect(late.paid).toMatchObject({ status: 'active', expiresAt: day(230), graceUntil: null });
    expect(nextSubscription(late.paid, day(200))).toEqual({ kind: 'wait', dueAt: day(227) });
  });
});

it('random histories of subscriptions match the model', () => {
  expect(firstDifference(scale(500, 100))).toBeUndefined();
});
