import { describe, expect, it } from 'vitest';
import { mayClaim, type Rival } from '../../../src/checks/claims/may-claim.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const rival = (id: number, stage: Rival['stage'], more: Partial<Rival> = {}): Rival => ({
  id,
  accountId: id,
  stage,
  isNameBanned: false,
  claimedAt: NOW - 48 * HOUR + id,
  isShown: false,
  ...more,
});
const ask = { accountId: 1000, transfer: false, needsPlace: true, at: NOW };
const crowd = (more: Partial<Rival> = {}) =>
  Array.from({ length: 32 }, (_, i) => rival(i + 1, 'waiting', more));

describe('a claim', () => {
  it('is made beside 31 others that wait, and beside domains that are off', () => {
    expect(mayClaim(crowd().slice(1), ask)).toEqual({ kind: 'yes', displaced: undefined });
    expect(mayClaim([rival(1, 'off')], ask).kind).toBe('yes');
  });

  it('needs `transfer` where another account holds the name', () => {
    expect(mayClaim([rival(1, 'held')], ask).kind).toBe('held');
    expect(mayClaim([rival(1, 'held')], { ...ask, transfer: true }).kind).toBe('yes');
  });

  it('is one for each account, and none for a banned name', () => {
    expect(mayClaim([rival(1, 'off', { accountId: 1000 })], ask).kind).toBe('own');
    expect(mayClaim([rival(1, 'off', { isNameBanned: true })], { ...ask, transfer: true }).kind).toBe(
      'banned',
    );
  });

  it('takes the place of the oldest that waited a day without its set at the parent', () => {
    expect(mayClaim(crowd(), ask)).toEqual({ kind: 'yes', displaced: 1 });
    const shown = crowd().map((one) => (one.id < 5 ? { ...one, isShown: true } : one));
    expect(mayClaim(shown, ask)).toEqual({ kind: 'yes', displaced: 5 });
  });

  it('waits for a place otherwise, unless an operator makes it', () => {
    const young = crowd({ claimedAt: NOW - 23 * HOUR });
    expect(mayClaim(young, ask)).toEqual({ kind: 'full', retryAfterSeconds: 3600 });
    expect(mayClaim(young, { ...ask, needsPlace: false })).toEqual({ kind: 'yes', displaced: undefined });
    expect(mayClaim(crowd({ isShown: true }), ask)).toEqual({ kind: 'full', retryAfterSeconds: 1 });
  });
});
