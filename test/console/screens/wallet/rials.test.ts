// Amounts as people type them, and never another amount than they meant.

import { describe, expect, it } from 'vitest';
import { amountIn, rials } from '../../../../console/src/screens/wallet/rials.ts';

describe('amountIn', () => {
  it('takes digits in groups, Persian and Arabic ones too', () => {
    for (const text of ['1250000', '1,250,000', '1 250 000', '۱۲۵۰۰۰۰', '۱٬۲۵۰٬۰۰۰', '١٢٥٠٠٠٠']) {
      expect(amountIn(text)).toBe(1_250_000);
    }
  });

  it('refuses what is no whole amount', () => {
    const wrong = ['', '1250000 rials', '1'.repeat(16), ...'-5 12e3 0x10 abc 10000.50 1,25'.split(' ')];
    for (const text of wrong) expect([text, amountIn(text)]).toEqual([text, undefined]);
  });
});

describe('rials', () => {
  it('groups digits', () => {
    expect(rials(-1_250_000)).toBe('-1,250,000 rials');
  });
});
