import { describe, expect, it } from 'vitest';
import { dueAt, remakeBefore, signatureTimes } from '../../../src/zone/signing/validity.ts';
import { name } from '../../support/world/zone-exchange.ts';

const DAY = 86_400;
const AT = 20_000 * DAY + 5000;
const expirations = (at = AT, salt = 0) =>
  Array.from({ length: 400 }, (_, i) => signatureTimes(name(`z${i}.test`), at, salt).expiration - at);

describe('a signature', () => {
  it('is valid from 3 hours ago, for resolvers whose clocks are slow', () => {
    expect(signatureTimes(name('a.test'), AT).inception).toBe(AT - 3 * 3600);
  });

  it('ends in 14 to 16 days, spread evenly over the zones', () => {
    const days = expirations().map((seconds) => seconds / DAY);
    expect(Math.min(...days)).toBeGreaterThan(14);
    expect(Math.max(...days)).toBeLessThanOrEqual(16);
    for (const from of [14, 14.5, 15, 15.5])
      expect(days.filter((each) => each > from && each <= from + 0.5).length).toBeGreaterThan(60);
  });

  it('ends with all others of the zone that are made at the same time, in whatever case the zone is written', () => {
    expect(signatureTimes(name('A.test'), AT)).toEqual(signatureTimes(name('a.TEST'), AT));
  });

  it('of another day or another piece of the zone is spread anew', () => {
    const [today, tomorrow, piece] = [expirations(), expirations(AT + DAY), expirations(AT, 1)];
    expect(today.filter((each, i) => each === tomorrow[i]).length).toBeLessThan(5);
    expect(today.filter((each, i) => each === piece[i]).length).toBeLessThan(5);
  });

  it('is due with 9 days left, so that 8 days without a signer leave a day for caches', () => {
    expect(dueAt(AT)).toBe(AT - 9 * DAY);
    expect(remakeBefore(AT, 'edit')).toBe(AT + 9 * DAY);
    // what is not remade now is not due within two days
    expect(dueAt(remakeBefore(AT, 'refresh'))).toBe(AT + 2 * DAY);
  });

  it('is never due when it is made, not even for a refresh', () => {
    for (const left of expirations()) expect(AT + left).toBeGreaterThan(remakeBefore(AT, 'refresh'));
  });
});
