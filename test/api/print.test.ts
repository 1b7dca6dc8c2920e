import { describe, expect, it } from 'vitest';
import { printDomain } from '../../src/api/print/print-domain.ts';
import { printEntitlements, withoutPrices } from '../../src/api/print/print-plan.ts';
import { parseName } from '../../src/dns/name.ts';
import type { Plan } from '../../src/store/accounts/plans.ts';
import type { Subscription } from '../../src/store/accounts/subscriptions.ts';
import type { VisibleDomain } from '../../src/store/domains/domain.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-05-01T12:00:00Z');
const at = new Date(NOW);
const AT = at.toISOString();

describe('a domain', () => {
  const domain = {
    name: parseName('xn--bcher-kva.example.'),
    unicode: 'bücher.example',
    createdAt: at,
    updatedAt: at,
    nameserverSets: [[parseName('ns1.example.net.')], [parseName('ns.example.org.')]],
    verification: null,
    developerModeUntil: null,
    pendingSince: null,
    movedSince: null,
    nextCheckAt: null,
    lastManualNsCheckAt: null,
    suspendedAt: null,
    suspendedBy: [],
    nsCheckIntervalSeconds: null,
    currentNs: null,
    findings: [{ code: 'X', message: 'x', internal: 1 }],
    myRole: 'viewer',
  } as unknown as VisibleDomain;
  const print = (more: Partial<VisibleDomain>, options = {}) =>
    printDomain({ ...domain, ...more }, { nowMs: NOW, ...options });

  it('has names without the final dot, and its own set of nameservers first', () => {
    expect(print({})).toMatchObject({
      name: 'xn--bcher-kva.example',
      name_unicode: 'bücher.example',
      svc_ns: ['ns1.example.net'],
      svc_ns_sets: [['ns1.example.net'], ['ns.example.org']],
      findings: [{ code: 'X', message: 'x' }],
    });
    expect(print({ currentNs: [parseName('a.example.')] }).current_ns).toEqual(['a.example']);
    expect(print({ currentNs: [] }).current_ns).toEqual([]);
  });

  it('has the reason why it is moved or disabled, and the time until which it is answered', () => {
    expect(print({ status: 'moved', movedSince: at }, { movedGraceMs: DAY_MS })).toMatchObject({
      status_reason: { code: 'delegated_elsewhere', message: expect.stringContaining('still answer') },
      status_until: '2026-05-02T12:00:00.000Z',
    });
    const disabled = print({ status: 'disabled', disabledBy: 'operator' });
    expect(disabled).toMatchObject({ status_reason: { code: 'switched_off' } });
    for (const field of ['status_reason', 'status_until'])
      expect(print({ status: 'active' })).not.toHaveProperty(field);
  });

  it('shows only the minute of its slot, which begins when another account’s claim arrives', () => {
    const nsTurn = { from: new Date(NOW + 1234), until: new Date(NOW + 901_234) };
    const shown = { from: AT, until: '2026-05-01T12:15:00.000Z' };
    expect(print({ status: 'pending', nsTurn }).ns_turn).toEqual(shown);
  });

  it('does not show a developer mode that has ended', () => {
    expect(print({ developerModeUntil: at })).not.toHaveProperty('developer_mode_until');
    const until = new Date(NOW + 1);
    expect(print({ developerModeUntil: until }).developer_mode_until).toBe(until.toISOString());
  });

  it('counts the seconds until the verification expires down to 0', () => {
    const seconds = (offsetMs: number) =>
      print({
        verification: {
          host: parseName('_svc-challenge.xn--bcher-kva.example.'),
          value: 'svc-verify=x',
          verified: false,
          verifiedUntil: null,
          startedAt: at,
          expiresAt: new Date(NOW + offsetMs),
          nextAt: null,
        },
      }).verification?.seconds_remaining;
    expect([90_500, 1000, 999, 0, -5000].map(seconds)).toEqual([90, 1, 0, 0, 0]);
  });

  it('shows every time that is set', () => {
    const times = { pendingSince: at, movedSince: at, nextCheckAt: at, suspendedAt: at };
    expect(print({ ...times, nsCheckIntervalSeconds: 60 })).toMatchObject({
      pending_since: AT,
      moved_since: AT,
      next_check_at: AT,
      suspended_at: AT,
      ns_check_interval_seconds: 60,
    });
  });
});

describe('entitlements', () => {
  const PLAN = { id: 1, slug: 'free', name: 'Free', maxRecords: 200, quotaResetDays: 30 } as Plan;
  const SUBSCRIPTION = { startedAt: at, quotaResetDays: 7, term: null } as Subscription;
  const NO_RULES = new Map();
  const domain = { plan: PLAN, recordCount: 12 };

  it.each([
    [0, 0],
    [6.99, 0],
    [7, 7],
    [20, 14],
    [-1, 0], // the clocks of two machines
  ])('have, %d days after the start, the quota period that began on day %d', (days, first) => {
    const day = (n: number) => new Date(NOW + n * DAY_MS);
    expect(printEntitlements(domain, SUBSCRIPTION, NO_RULES, day(days))).toMatchObject({
      quota_reset_days: 7,
      quota_period_start: day(first).toISOString(),
      quota_period_end: day(first + 7).toISOString(),
    });
  });

  it('have no quota period without a subscription, or if nothing is reset', () => {
    for (const subscription of [undefined, { ...SUBSCRIPTION, quotaResetDays: 0 }])
      expect(printEntitlements(domain, subscription, NO_RULES)).not.toHaveProperty('quota_period_start');
  });

  it('contain the usage of every rule type, with the limit of the plan', () => {
    const limited = { ...domain, plan: { ...PLAN, maxRulesPerSet: 5 } as Plan };
    const { domain_usage } = printEntitlements(limited, undefined, new Map([['rate_limit', 2]]));
    expect(domain_usage).toHaveLength(13);
    expect(domain_usage).toContainEqual({ name: 'rules_rate_limit', used: 2, limit: 5 });
    expect(domain_usage).toContainEqual({ name: 'rules_waf', used: 0, limit: 5 });
  });

  it('have limits of 0 without a plan, because null would mean unlimited', () => {
    const printed = printEntitlements({ plan: null, recordCount: 3 }, undefined, NO_RULES);
    expect(printed).toMatchObject({ has_active_plan: false, max_records: 0, max_traffic_gb: 0 });
    expect(printed.domain_usage[0]).toEqual({ name: 'records', used: 3, limit: 0 });
  });
});

it('withoutPrices removes prices at any depth, and nothing else', () => {
  const value = {
    id: 1,
    price: 5,
    plan: { terms: [{ id: 2, price_rials: 0, at: null }, [{ unitPrice: 1, x: 'y' }]], PRICE: {} },
  };
  expect(withoutPrices(value)).toEqual({ id: 1, plan: { terms: [{ id: 2, at: null }, [{ x: 'y' }]] } });
});
