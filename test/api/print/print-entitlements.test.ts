import { describe, expect, it } from 'vitest';
import { printEntitlements } from '../../../src/api/print/print-entitlements.ts';
import type { Plan } from '../../../src/store/accounts/plans.ts';
import type { Subscription } from '../../../src/store/accounts/subscriptions.ts';

const DAY_MS = 86_400_000;
const PLAN = { id: 1, slug: 'free', name: 'Free', maxRecords: 200, quotaResetDays: 30 } as Plan;
const STARTED = Date.parse('2026-01-01T00:00:00Z');
const SUBSCRIPTION = { startedAt: new Date(STARTED), quotaResetDays: 7, term: null } as Subscription;
const domain = { plan: PLAN, recordCount: 12 };

describe('the quota period', () => {
  it.each([
    [0, 0],
    [6.99, 0],
    [7, 7],
    [20, 14],
    [-1, 0], // the clocks of two machines
  ])('that runs %d days after the start began on day %d', (days, first) => {
    const printed = printEntitlements(domain, SUBSCRIPTION, new Date(STARTED + days * DAY_MS));
    expect(printed).toMatchObject({
      quota_reset_days: 7,
      quota_period_start: new Date(STARTED + first * DAY_MS).toISOString(),
      quota_period_end: new Date(STARTED + (first + 7) * DAY_MS).toISOString(),
    });
  });

  it('is absent without a subscription, and where nothing is reset', () => {
    expect(printEntitlements(domain, undefined)).not.toHaveProperty('quota_period_start');
    const never = printEntitlements(domain, { ...SUBSCRIPTION, quotaResetDays: 0 });
    expect(never).not.toHaveProperty('quota_period_start');
  });
});

describe('limits', () => {
  it('are 0 without a plan, since null would be none', () => {
    const printed = printEntitlements({ plan: null, recordCount: 3 }, undefined);
    expect(printed).toMatchObject({ has_active_plan: false, max_records: 0, max_traffic_gb: 0 });
    expect(printed.domain_usage).toEqual([{ name: 'records', used: 3, limit: 0 }]);
  });
});
