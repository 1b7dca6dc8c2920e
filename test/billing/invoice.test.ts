import { expect, it } from 'vitest';
import { describeTerm } from '../../src/billing/invoice.ts';

it('describes a term with its plan, its days and its domain', () => {
  const term = { planName: 'Pro', domain: 'shop.example' };
  expect(describeTerm({ ...term, days: 30 })).toBe('Pro for 30 days: shop.example');
  expect(describeTerm({ ...term, days: 1 })).toBe('Pro for 1 day: shop.example');
});
