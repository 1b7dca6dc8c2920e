// What a domain may do under its plan.

import { z } from 'zod';
import { RULE_TYPES } from '../../edge/rules/every-type.ts';
import { Id } from './ids.ts';
import { Timestamp } from './timestamp.ts';

/** Rules are counted by type. */
const RULE_USES = RULE_TYPES.map((type) => `rules_${type}` as const);

const limit = z.int().min(0).nullable().describe('`null`: no limit. Without an active plan 0.');

/** What a plan includes, and how much of it a domain has. */
export const PlanFeatures = z.object({
  max_records: limit,
  max_traffic_gb: limit,
  max_rules_per_set: limit,
  max_cache_cap_mb: z.int().min(0).describe('The ceiling of `cache_cap_mb`.'),
  logs_enabled: z.boolean(),
  monitoring_enabled: z.boolean(),
  rules_enabled: z.boolean(),
  cache_purge_enabled: z.boolean(),
  custom_ssl_enabled: z.boolean(),
  ws_enabled: z.boolean(),
  host_header_edit_enabled: z.boolean(),
  dedicated_support_enabled: z.boolean(),
});

export const Entitlements = z
  .object({
    plan_id: Id.optional(),
    plan_name: z.string().optional(),
    plan_slug: z.string().optional(),
    has_active_plan: z.boolean(),
    ...PlanFeatures.shape,
    domain_usage: z
      .array(
        z.object({ name: z.enum(['records', ...RULE_USES, 'traffic_gb']), used: z.number().min(0), limit }),
      )
      .describe(
        'What of the limits is used. The records that the service manages do not count. `traffic_gb` is of the quota period, and absent while it is not known.',
      ),
    plan_term_id: Id.optional(),
    billing_duration_days: z.int().min(0).optional(),
    quota_reset_days: z.int().min(0).optional(),
    quota_period_start: Timestamp.optional(),
    quota_period_end: Timestamp.optional(),
  })
  .meta({ id: 'Entitlements' });
