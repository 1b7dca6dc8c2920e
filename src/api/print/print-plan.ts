// Prints plans with their terms, subscriptions, and the limits and usage of a domain. Clients of a reseller see no
// prices, because the reseller sets its own (docs/rules.md "Plans").

import type { z } from 'zod';
import {
  ENTITLEMENTS,
  NO_ENTITLEMENTS,
  type Entitlements as PlanEntitlements,
} from '../../billing/entitlements.ts';
import { GB, quotaPeriod } from '../../billing/quota.ts';
import type { Term } from '../../billing/subscription.ts';
import type { RuleType } from '../../edge/edge-rule.ts';
import { RULE_TYPES } from '../../edge/rules/every-type.ts';
import type { CataloguePlan, Plan as StoredPlan } from '../../store/accounts/plans.ts';
import type { Subscription as StoredSubscription } from '../../store/accounts/subscriptions.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { moments } from '../schemas/fields.ts';
import type {
  Entitlements,
  Plan,
  PlanFeatures,
  PlanTerm,
  CataloguePlan as ShownPlan,
  Subscription,
} from '../schemas/plan.ts';

/** Removes the price members, at any depth. A missing price means that it is not shown, never that it is free. */
export function withoutPrices<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutPrices) as T;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !/price/i.test(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutPrices(member)])) as T;
}

function printFeatures(entitlements: PlanEntitlements): z.input<typeof PlanFeatures> {
  const named = Object.entries(ENTITLEMENTS).map(([key, { name }]) => [
    name,
    entitlements[key as keyof PlanEntitlements],
  ]);
  return Object.fromEntries(named) as z.input<typeof PlanFeatures>;
}

export function printPlan(plan: StoredPlan): z.input<typeof Plan> {
  return { id: plan.id, name: plan.name, slug: plan.slug, ...printFeatures(plan) };
}

export function printTerm({ id, days, priceRials }: Term): z.input<typeof PlanTerm> {
  return { id, billing_duration_days: days, price_rials: priceRials };
}

/** Prints a plan with the terms on sale. */
export function printCataloguePlan(plan: CataloguePlan): z.input<typeof ShownPlan> {
  const sold = plan.terms.filter(({ isRetired }) => !isRetired);
  return { ...printPlan(plan), quota_reset_days: plan.quotaResetDays, terms: sold.map(printTerm) };
}

export function printSubscription(
  subscription: StoredSubscription,
  { name }: Pick<Domain, 'name'>,
): z.input<typeof Subscription> {
  const { plan, term, expiresAt, graceUntil } = subscription;
  const printed: z.input<typeof Subscription> = {
    id: subscription.id,
    user_id: subscription.accountId,
    domain_id: subscription.domainId,
    domain_name: printWithoutDot(name),
    plan_id: plan.id,
    plan: printPlan(plan),
    ...(term !== null && { plan_term_id: term.id, plan_term: printTerm(term) }),
    status: subscription.status,
    started_at: subscription.startedAt.toISOString(),
    ...moments({ expires_at: expiresAt, grace_until: graceUntil }),
    auto_renew: subscription.autoRenew,
    quota_reset_days: subscription.quotaResetDays,
    is_trial: subscription.isTrial,
  };
  return subscription.isManaged ? withoutPrices(printed) : printed;
}

/** `rules` contains counts by type. `trafficBytes` is that of the quota period, or undefined if not known. */
export function printEntitlements(
  { plan, recordCount }: Pick<Domain, 'plan' | 'recordCount'>,
  subscription: StoredSubscription | undefined,
  rules: ReadonlyMap<RuleType, number>,
  now: Date = new Date(),
  trafficBytes?: number | undefined,
): z.input<typeof Entitlements> {
  const features = printFeatures(plan ?? NO_ENTITLEMENTS);
  const usage = [
    { name: 'records' as const, used: recordCount, limit: features.max_records },
    ...RULE_TYPES.map((type) => ({
      name: `rules_${type}` as const,
      used: rules.get(type) ?? 0,
      limit: features.max_rules_per_set,
    })),
    ...(trafficBytes === undefined
      ? []
      : [
          {
            name: 'traffic_gb' as const,
            used: Math.floor(trafficBytes / (GB / 1000)) / 1000,
            limit: features.max_traffic_gb,
          },
        ]),
  ];
  if (plan === null) return { has_active_plan: false, ...features, domain_usage: usage };
  return {
    plan_id: plan.id,
    plan_name: plan.name,
    plan_slug: plan.slug,
    has_active_plan: true,
    ...features,
    domain_usage: usage,
    ...(subscription !== undefined && periods(subscription, now)),
  };
}

function periods({ term, startedAt, quotaResetDays }: StoredSubscription, now: Date) {
  const period = quotaPeriod(startedAt, quotaResetDays, now);
  return {
    ...(term !== null && { plan_term_id: term.id, billing_duration_days: term.days }),
    quota_reset_days: quotaResetDays,
    ...(period && moments({ quota_period_start: period.start, quota_period_end: period.end })),
  };
}
