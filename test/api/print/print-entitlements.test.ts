import { describe, expect, it } from 'vitest';
import { printEntitlements } from '../../../src/api/print/print-entitlements.ts';
import type { Plan } from '../../../src/store/accounts/plans.ts';
import type { Subscription } from '../../../src/store/accounts/subscriptions.ts';

const DAY_MS = 86_400_000;
const PLAN = { id: 1, slug: 'free', name: 'Free', maxRecords: 200, quotaResetDays: 30 } as Plan;
const STARTED = Date.parse('2026-01-01T00:00:00Z');
const SUBSCRIPTION = { startedAt: new Date(STARTED), quotaResetDays: 7, term: null } as Subscription;
const NO_RULES = new Map();
const domain = { plan: PLAN, recordCount: 12 };

describe('the quota period', () => {
  it.each([
    [0, 0],
    [6.99, 0],
    [7, 7],
    [20, 14],
    [-1, 0], // the clocks of two machines
  ])('that runs %d days after the start began on day %d', (days, first) => {
    const printed = printEntitlements(domain, SUBSCRIPTION, NO_RULES, new Date(STARTED + days * DAY_MS));
    expect(printed).toMatchObject({
      quota_reset_days: 7,
      quota_period_start: new Date(STARTED + first * DAY_MS).toISOString(),
      quota_period_end: new Date(STARTED + (first + 7) * DAY_MS).toISOString(),
    });
  });

  it('is absent without a subscription, and where nothing is reset', () => {
    expect(printEntitlements(domain, undefined, NO_RULES)).not.toHaveProperty('quota_period_start');
    const never = printEntitlements(domain, { ...SUBSCRIPTION, quotaResetDays: 0 }, NO_RULES);
    expect(never).not.toHaveProperty('quota_period_start');
  });
});

describe('what is used', () => {
  it('is told of every type of rules, with the limit of the plan', () => {
    const limited = { ...domain, plan: { ...PLAN, maxRulesPerSet: 5 } as Plan };
    const { domain_usage } = printEntitlements(limited, undefined, new Map([['rate_limit', 2]]));
    expect(domain_usage).toHaveLength(13);
    expect(domain_usage).toContainEqual({ name: 'rules_rate_limit', used: 2, limit: 5 });
    expect(domain_usage).toContainEqual({ name: 'rules_waf', used: 0, limit: 5 });
  });
});

describe('limits', () => {
  it('are 0 without a plan, since null would be none', () => {
    const printed = printEntitlements({ plan: null, recordCount: 3 }, undefined, NO_RULES);
    expect(printed).toMatchObject({ has_active_plan: false, max_records: 0, max_traffic_gb: 0 });
    expect(printed.domain_usage[0]).toEqual({ name: 'records', used: 3, limit: 0 });
  });
});
