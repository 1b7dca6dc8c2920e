// A plan attached to a domain.

import { z } from 'zod';
import { Id } from './ids.ts';
import { Plan, PlanTerm } from './plan.ts';
import { Timestamp } from './timestamp.ts';

export const Subscription = z
  .object({
    id: Id,
    user_id: Id,
    domain_id: Id,
    domain_name: z.string(),
    plan_id: Id,
    plan: Plan,
    plan_term_id: Id.optional().describe('Absent for a trial, and for a plan that the operator gave.'),
    plan_term: PlanTerm.optional(),
    status: z
      .enum(['active', 'expired', 'grace', 'cancelled'])
      .describe('In `grace` it was not paid in time; its plan goes on until `grace_until`.'),
    started_at: Timestamp,
    expires_at: Timestamp.optional().describe('Absent: it has no end.'),
    grace_until: Timestamp.optional(),
    auto_renew: z.boolean().describe('3 days before its end the next term is bought, if it can be paid.'),
    quota_reset_days: z.int().min(0),
    is_trial: z.boolean().describe('At its end the domain has the plan `free`, without grace.'),
  })
  .meta({ id: 'Subscription' });
