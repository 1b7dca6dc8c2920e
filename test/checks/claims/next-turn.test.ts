import { describe, expect, it } from 'vitest';
import { nextTurn, type WaitingClaim } from '../../../src/checks/claims/next-turn.ts';

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

  it('begins for a claim that asks again, and for the first of claims that never asked', () => {
    expect(nextTurn([claim(1, { turn: over, askedAt: NOW })], NOW)).toMatchObject({ id: 1, isNew: true });
    expect(nextTurn([claim(1), claim(2)], NOW)).toMatchObject({ id: 1, isNew: true });
    expect(nextTurn([], NOW)).toBeUndefined();
  });
});
