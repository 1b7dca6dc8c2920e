// Plans with their terms, subscriptions, and the features and limits of a domain. Clients of a reseller do not see
// prices.

import { z } from 'zod';
import { RULE_TYPES } from '../../edge/rules/every-type.ts';
import { Id, nameText, Timestamp } from './fields.ts';

/** Rules are counted by type. */
const RULE_USES = RULE_TYPES.map((type) => `rules_${type}` as const);

const limit = z.int().min(0).nullable().describe('`null`: no limit. 0 without an active plan.');

/** The features and limits of a plan, or of a domain. */
export const PlanFeatures = z.object({
  max_records: limit,
  max_traffic_gb: limit,
  max_rules_per_set: limit,
  max_cache_cap_mb: z.int().min(0).describe('The maximum of `cache_cap_mb`.'),
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
        'Usage of the limits. Records that the service manages are not counted. `traffic_gb` is the traffic of the quota period. It is absent if it is not known.',
      ),
    plan_term_id: Id.optional(),
    billing_duration_days: z.int().min(0).optional(),
    quota_reset_days: z.int().min(0).optional(),
    quota_period_start: Timestamp.optional(),
    quota_period_end: Timestamp.optional(),
  })
  .meta({ id: 'Entitlements' });

export const Plan = z
  .object({ id: Id, name: z.string(), slug: z.string(), ...PlanFeatures.shape })
  .meta({ id: 'Plan' });

export const PlanTerm = z
  .object({
    id: Id,
    billing_duration_days: z.int().min(1),
    price_rials: z
      .int()
      .min(0)
      .optional()
      .describe('Absent if a reseller manages the account: prices are then not shown.'),
  })
  .meta({ id: 'PlanTerm' });

export const CataloguePlan = z
  .object({
    ...Plan.shape,
    quota_reset_days: z
      .int()
      .min(0)
      .describe('Number of days after which the traffic counter is reset. 0: never.'),
    terms: z
      .array(PlanTerm)
      .describe('Terms on sale. A plan without terms can only be assigned by the operator.'),
  })
  .meta({ id: 'CataloguePlan' });

export const Subscription = z
  .object({
    id: Id,
    user_id: Id,
    domain_id: Id,
    domain_name: z.string(),
    plan_id: Id,
    plan: Plan,
    plan_term_id: Id.optional().describe('Absent for a trial, and for a plan that the operator assigned.'),
    plan_term: PlanTerm.optional(),
    status: z
      .enum(['active', 'expired', 'grace', 'cancelled'])
      .describe('In `grace`, the subscription was not paid in time. Its plan continues until `grace_until`.'),
    started_at: Timestamp,
    expires_at: Timestamp.optional().describe('Absent if it has no end.'),
    grace_until: Timestamp.optional(),
    auto_renew: z
      .boolean()
      .describe('Buys the next term 3 days before the end if the balance is sufficient.'),
    quota_reset_days: z.int().min(0),
    is_trial: z.boolean().describe('At its end, the domain gets the plan `free`, without a grace period.'),
  })
  .meta({ id: 'Subscription' });

const count = z.int().min(0).max(2_147_483_647);

const OTHERS = {
  max_domains: count.nullable().describe('Domains that an account with this plan may have. null: no limit.'),
  max_claims: count
    .nullable()
    .describe('Unproven domains that an account with this plan may have. null: no limit.'),
  quota_reset_days: count.describe('Number of days after which the traffic counter is reset. 0: never.'),
};

export const AdminPlan = z
  .object({
    ...Plan.shape,
    ...OTHERS,
    terms: z.array(PlanTerm.extend({ price_rials: z.int().min(0), retired: z.boolean() })),
  })
  .meta({ id: 'AdminPlan' });

const features = Object.fromEntries(
  Object.entries(PlanFeatures.shape).map(([name, schema]) => [
    name,
    schema instanceof z.ZodBoolean ? z.boolean().optional() : sized(schema).optional(),
  ]),
) as { readonly [name in keyof typeof PlanFeatures.shape]: z.ZodOptional<z.ZodType> };

function sized(schema: z.ZodType): z.ZodType {
  return schema.safeParse(null).success ? count.nullable() : count;
}

const name = nameText(100);
const fields = { ...features, ...z.object(OTHERS).partial().shape };

export const NewPlan = z
  .strictObject({
    slug: z
      .string()
      .regex(
        /^(?!none$)[a-z][a-z0-9-]{0,39}$/,
        'expected lower-case letters, digits and hyphens, and not `none`',
      ),
    name,
    ...fields,
  })
  .describe('Features that are left out are not included.')
  .meta({ id: 'NewPlan' });

export const PlanUpdate = z.strictObject({ name: name.optional(), ...fields }).meta({ id: 'PlanUpdate' });

export const NewTerm = z
  .strictObject({
    billing_duration_days: z.int().min(1).max(3660),
    price_rials: z.int().min(0).max(9_000_000_000_000_000),
  })
  .meta({ id: 'NewTerm' });
