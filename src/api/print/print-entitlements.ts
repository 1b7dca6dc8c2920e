// What a domain may do, and how much of it is used.

import type { z } from 'zod';
import { NO_ENTITLEMENTS } from '../../billing/entitlements.ts';
import { GB, quotaPeriod } from '../../billing/quota.ts';
import type { RuleType } from '../../edge/edge-rule.ts';
import { RULE_TYPES } from '../../edge/rules/every-type.ts';
import type { Subscription } from '../../store/accounts/subscriptions.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Entitlements } from '../schemas/entitlements.ts';
import { moments } from './moments.ts';
import { printFeatures } from './print-plan.ts';

/** `subscription`: the domain's own. `rules`: how many it has of each type. `trafficBytes`: of its period; undefined: not known. */
export function printEntitlements(
  { plan, recordCount }: Pick<Domain, 'plan' | 'recordCount'>,
  subscription: Subscription | undefined,
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

function periods({ term, startedAt, quotaResetDays }: Subscription, now: Date) {
  const period = quotaPeriod(startedAt, quotaResetDays, now);
  return {
    ...(term !== null && { plan_term_id: term.id, billing_duration_days: term.days }),
    quota_reset_days: quotaResetDays,
    ...(period && moments({ quota_period_start: period.start, quota_period_end: period.end })),
  };
}
