import { describe, expect, it } from 'vitest';
import { isFollowed, nextTurn, type WaitingClaim } from '../../../src/checks/claims/next-turn.ts';

const NOW = 1_800_000_000_000;
const TURN_MS = 15 * 60_000;
const claim = (id: number, more: Partial<WaitingClaim> = {}): WaitingClaim => ({
  id,
  hasTxt: false,
  askedAt: undefined,
  turn: undefined,
  ...more,
});
const now = { from: NOW - 1000, until: NOW + 1000 };
const over = { from: NOW - TURN_MS, until: NOW };

describe('a turn', () => {
  it('lasts, whoever asks meanwhile', () => {
    const claims = [claim(1, { turn: now }), claim(2, { askedAt: NOW - 5000 })];
    expect(nextTurn(claims, NOW)).toEqual({ id: 1, turn: now, isNew: false });
  });

  it('passes to whoever asked first when it is over, those with the TXT value before others', () => {
    const claims = [claim(1, { turn: over }), claim(2, { askedAt: NOW - 5 }), claim(3, { askedAt: NOW - 9 })];
    expect(nextTurn(claims, NOW)).toEqual({ id: 3, turn: { from: NOW, until: NOW + TURN_MS }, isNew: true });
    expect(nextTurn([...claims, claim(4, { askedAt: NOW - 1, hasTxt: true })], NOW)?.id).toBe(4);
  });

  it('stays with the last one while nobody asks', () => {
    expect(nextTurn([claim(1, { turn: over }), claim(2)], NOW)).toEqual({ id: 1, turn: over, isNew: false });
  });

  it('returns to a claim with the TXT value, which alone is answered whole, when nobody else asks', () => {
    const ours = claim(2, { hasTxt: true, turn: { from: NOW - 2 * TURN_MS, until: NOW - TURN_MS } });
    expect(nextTurn([claim(1, { turn: over }), ours], NOW)).toMatchObject({ id: 2, isNew: true });
    expect(nextTurn([claim(1, { turn: over }), claim(2, { hasTxt: true })], NOW)?.id).toBe(2);
    expect(nextTurn([claim(1, { turn: now }), ours], NOW)?.id).toBe(1);
    expect(nextTurn([claim(1, { turn: over, askedAt: NOW }), ours], NOW)?.id).toBe(1);
    const both = [claim(1, { hasTxt: true, turn: over }), ours];
    expect(nextTurn(both, NOW)).toEqual({ id: 1, turn: over, isNew: false });
  });

  it('goes to a claim that has waited for an hour after one with the TXT value, however many have it', () => {
    const txt = (id: number) => claim(id, { hasTxt: true, askedAt: NOW - 2 * TURN_MS });
    const patient = claim(9, { askedAt: NOW - 4 * TURN_MS });
    const last = (hasTxt: boolean) => claim(1, { hasTxt, turn: over });
    expect(nextTurn([last(true), txt(2), txt(3), patient], NOW)?.id).toBe(9);
    expect(nextTurn([last(false), txt(2), txt(3), patient], NOW)?.id).toBe(2);
    const fresh = claim(9, { askedAt: NOW - 4 * TURN_MS + 1 });
    expect(nextTurn([last(true), txt(2), txt(3), fresh], NOW)?.id).toBe(2);
  });

  it('has a next one when somebody asks, or a claim without the TXT value has it before one with', () => {
    const ours = claim(2, { hasTxt: true });
    expect(isFollowed([claim(1, { turn: now }), claim(3)])).toBe(false);
    expect(isFollowed([claim(1, { turn: now }), claim(3, { askedAt: NOW })])).toBe(true);
    expect(isFollowed([claim(1, { turn: now }), ours])).toBe(true);
    expect(isFollowed([claim(1), { ...ours, turn: now }])).toBe(false);
  });

  it('begins for a claim that asks again, and for the first of claims that never asked', () => {
    expect(nextTurn([claim(1, { turn: over, askedAt: NOW })], NOW)).toMatchObject({ id: 1, isNew: true });
    expect(nextTurn([claim(1), claim(2)], NOW)).toMatchObject({ id: 1, isNew: true });
    expect(nextTurn([], NOW)).toBeUndefined();
  });
});
