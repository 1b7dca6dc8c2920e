// What a domain may do, and how much of it is used. Without an active plan all limits are 0, since `null` would mean no
// limit.

import type { z } from 'zod';
import type { Subscription } from '../../store/accounts/plans.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Entitlements, PlanFeatures } from '../schemas/entitlements.ts';
import { moments } from './moments.ts';
import { printFeatures } from './print-subscription.ts';

const DAY_MS = 86_400_000;

const NOTHING: z.input<typeof PlanFeatures> = {
  max_records: 0,
  max_traffic_gb: 0,
  max_rules_per_set: 0,
  max_cache_cap_mb: 0,
  logs_enabled: false,
  monitoring_enabled: false,
  rules_enabled: false,
  cache_purge_enabled: false,
  custom_ssl_enabled: false,
  ws_enabled: false,
  host_header_edit_enabled: false,
  dedicated_support_enabled: false,
};

/** `subscription`: the domain's active subscription. */
export function printEntitlements(
  { plan, recordCount }: Pick<Domain, 'plan' | 'recordCount'>,
  subscription: Subscription | undefined,
  nowMs: number = Date.now(),
): z.input<typeof Entitlements> {
  const features = plan === null ? NOTHING : printFeatures(plan);
  const usage = [{ name: 'records' as const, used: recordCount, limit: features.max_records }];
  if (plan === null) return { has_active_plan: false, ...features, domain_usage: usage };
  return {
    plan_id: plan.id,
    plan_name: plan.name,
    plan_slug: plan.slug,
    has_active_plan: true,
    ...features,
    domain_usage: usage,
    plan_term_id: plan.termId,
    billing_duration_days: plan.billingDurationDays,
    quota_reset_days: subscription?.quotaResetDays ?? plan.quotaResetDays,
    ...(subscription === undefined ? {} : quotaPeriod(subscription, nowMs)),
  };
}

/** The current period: periods follow each other from the start of the subscription. */
function quotaPeriod({ startedAt, quotaResetDays }: Subscription, nowMs: number) {
  const lengthMs = quotaResetDays * DAY_MS;
  if (lengthMs <= 0) return {};
  const startMs = startedAt.getTime();
  const firstMs = startMs + Math.max(0, Math.floor((nowMs - startMs) / lengthMs)) * lengthMs;
  return moments({ quota_period_start: new Date(firstMs), quota_period_end: new Date(firstMs + lengthMs) });
}
