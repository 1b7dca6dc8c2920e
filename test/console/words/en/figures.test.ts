import { describe, expect, it } from 'vitest';
import { compact, date, grouped, relative } from '../../../../console/src/words/en/figures.ts';

const AMOUNTS = [
  0, 1, 9, 10, 99, 999, 1000, 1049, 1050, 1149, 1150, 1250, 9949, 9950, 9999, 10_049, 10_050, 12_345, 99_949,
  99_950, 100_000, 123_456, 999_499, 999_500, 999_949, 999_950, 1_000_000, 1_250_000, 999_949_999,
  999_950_000, 1_000_000_000, 12_345_678_901, 999_999_999_999, 1e12, 1.25e12, 999_982_191_921_035, 1e15,
];

describe('formatted numbers and times', () => {
  it('have separators', () => {
    for (const amount of [...AMOUNTS, ...AMOUNTS.map((each) => -each), 0.5, 1234.5678, 99.95])
      expect(grouped(amount)).toBe(amount === 0 ? '0' : amount.toLocaleString('en-GB'));
  });

  it('are compact where space is short', () => {
    const intl = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });
    const random = Array.from({ length: 2000 }, () => Math.floor(10 ** (Math.random() * 15)));
    for (const amount of [...AMOUNTS.filter((each) => each < 1e15), ...random, 0.4, 99.95, 999.95])
      expect([amount, compact(amount)]).toEqual([amount, intl.format(amount)]);
  });

  it('are relative to now', () => {
    const intl = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });
    for (const unit of ['second', 'minute', 'hour', 'day', 'month'] as const) {
      for (const amount of [-1200, -60, -59, -2, -1, 0, 1, 2, 59, 60, 1200])
        expect(relative(amount, unit)).toBe(intl.format(amount, unit));
    }
  });

  it('are dates in UTC', () => {
    const intl = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: 'UTC',
    });
    for (let month = 0; month < 12; month++) {
      const at = new Date(Date.UTC(2026, month, 3 + month, 9, 4 + month));
      expect(date(at)).toBe(`${intl.format(at)} UTC`);
    }
  });
});
