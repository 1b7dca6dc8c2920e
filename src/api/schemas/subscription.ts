// A plan attached to a domain. Accounts managed by a reseller see no prices; there are none here.

import { z } from 'zod';
import { PlanFeatures } from './entitlements.ts';
import { Id } from './ids.ts';
import { Timestamp } from './timestamp.ts';

const Plan = z
  .object({ id: Id, name: z.string(), slug: z.string(), ...PlanFeatures.shape })
  .meta({ id: 'Plan' });

const PlanTerm = z
  .object({ id: Id, billing_duration_days: z.int().min(0), quota_reset_days: z.int().min(0) })
  .meta({ id: 'PlanTerm' });

export const Subscription = z
  .object({
    id: Id,
    user_id: Id,
    domain_id: Id,
    domain_name: z.string(),
    plan_id: Id,
    plan: Plan,
    plan_term_id: Id,
    plan_term: PlanTerm,
    status: z.enum(['active', 'expired', 'grace', 'cancelled']),
    started_at: Timestamp,
    expires_at: Timestamp.optional(),
    grace_until: Timestamp.optional(),
    auto_renew: z.boolean(),
    quota_reset_days: z.int().min(0),
    is_trial: z.boolean(),
  })
  .meta({ id: 'Subscription' });
