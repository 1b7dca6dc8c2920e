// A subscription as its owner sees it.

import type { z } from 'zod';
import type { Plan, Subscription as StoredSubscription } from '../../store/accounts/plans.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { PlanFeatures } from '../schemas/entitlements.ts';
import type { Subscription } from '../schemas/subscription.ts';
import { moments } from './moments.ts';

export function printSubscription(
  subscription: StoredSubscription,
  { name }: Pick<Domain, 'name'>,
): z.input<typeof Subscription> {
  const { plan } = subscription;
  return {
    id: subscription.id,
    user_id: subscription.accountId,
    domain_id: subscription.domainId,
    domain_name: printWithoutDot(name),
    plan_id: plan.id,
    plan: { id: plan.id, name: plan.name, slug: plan.slug, ...printFeatures(plan) },
    plan_term_id: plan.termId,
    plan_term: {
      id: plan.termId,
      billing_duration_days: plan.billingDurationDays,
      quota_reset_days: plan.quotaResetDays,
    },
    status: subscription.status,
    started_at: subscription.startedAt.toISOString(),
    ...moments({ expires_at: subscription.expiresAt, grace_until: subscription.graceUntil }),
    auto_renew: subscription.autoRenew,
    quota_reset_days: subscription.quotaResetDays,
    is_trial: subscription.isTrial,
  };
}

export function printFeatures(plan: Plan): z.input<typeof PlanFeatures> {
  return {
    max_records: plan.maxRecords,
    max_traffic_gb: plan.maxTrafficGb,
    max_rules_per_set: plan.maxRulesPerSet,
    max_cache_cap_mb: plan.maxCacheCapMb,
    logs_enabled: plan.logsEnabled,
    monitoring_enabled: plan.monitoringEnabled,
    rules_enabled: plan.rulesEnabled,
    cache_purge_enabled: plan.cachePurgeEnabled,
    custom_ssl_enabled: plan.customSslEnabled,
    ws_enabled: plan.wsEnabled,
    host_header_edit_enabled: plan.hostHeaderEditEnabled,
    dedicated_support_enabled: plan.dedicatedSupportEnabled,
  };
}
