import { expect, it } from 'vitest';
import { termChoices, tokenState } from '../../../../console/src/screens/reseller/service-terms.ts';

it('termChoices returns the terms of all plans, with their prices if these are shown', () => {
  const plans = [
    { name: 'Free', terms: [] },
    {
      name: 'Pro',
      terms: [
        { id: 3, billing_duration_days: 30, price_rials: 300_000 },
        { id: 4, billing_duration_days: 1 },
      ],
    },
  ];
  expect(termChoices(plans)).toEqual([
    { value: '3', label: 'Pro, 30 days: 300,000 rials' },
    { value: '4', label: 'Pro, 1 day' },
  ]);
});

it('tokenState is expired after the end, unless the token was revoked', () => {
  const now = Date.parse('2026-12-01T12:00:00Z');
  const past = '2026-12-01T12:00:00Z';
  expect(tokenState({ status: 'active', expires_at: null }, now)).toBe('active');
  expect(tokenState({ status: 'active', expires_at: '2026-12-01T12:00:01Z' }, now)).toBe('active');
  expect(tokenState({ status: 'active', expires_at: past }, now)).toBe('expired');
  expect(tokenState({ status: 'revoked', expires_at: past }, now)).toBe('revoked');
});
