import { expect, it } from 'vitest';
import { describeTerm, invoiceNumber, readInvoiceNumber } from '../../src/billing/invoice.ts';

it('describes a term with its plan, days and domain, and a number with its year and at least six digits', () => {
  const term = { planName: 'Pro', domain: 'shop.example' };
  expect(describeTerm({ ...term, days: 30 })).toBe('Pro for 30 days: shop.example');
  expect(describeTerm({ ...term, days: 1 })).toBe('Pro for 1 day: shop.example');
  expect(invoiceNumber({ year: 2026, number: 42 })).toBe('2026-000042');
  expect(invoiceNumber({ year: 2026, number: 1_000_000 })).toBe('2026-1000000');
});

it.each([
  ['2026-000042', { year: 2026, number: 42 }],
  ['2026-1000000', { year: 2026, number: 1_000_000 }],
  ['2026-42', undefined],
  ['42', undefined],
  ['2026-000042 ', undefined],
])('%s is parsed, or is not a number', (text, read) => {
  expect(readInvoiceNumber(text)).toEqual(read);
});
