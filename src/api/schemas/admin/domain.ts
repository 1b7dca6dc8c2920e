// Domains of all accounts, as global admins read and change them, and domains that an operator creates in one call.

import { z } from 'zod';
import { ENTITLEMENTS } from '../../../billing/entitlements.ts';
import { Domain } from '../domain.ts';
import { batchResult, MAX_DOMAINS } from '../domain-batch.ts';
import { boundedArray, Id, Timestamp } from '../fields.ts';
import { Subscription } from '../plan.ts';

export const AdminDomain = z
  .object({
    ...Domain.shape,
    user_email: z.string().describe('Email address of the owner.'),
    subscription: Subscription.optional().describe('The subscription that has not ended.'),
    overrides: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Values of its subscription that replace those of its plan.'),
    suspended_by: z
      .array(z.enum(['operator', 'debt']))
      .describe(
        '`operator`: suspended by an operator. `debt`: suspended because the wallet that pays for it is below zero. It ends automatically.',
      ),
    deleted_at: Timestamp.optional().describe('Time of deletion. The domain can be restored within 30 days.'),
  })
  .meta({ id: 'AdminDomain' });

export const Approval = z
  .strictObject({
    svc_ns: z
      .array(z.string().max(1024))
      .min(1)
      .max(32)
      .optional()
      .describe(
        'Lets this nameserver set of the service prove the domain. Default: the set that the parent shows.',
      ),
    take: z
      .boolean()
      .default(false)
      .describe('If true, takes the right to this name from the account that has it.'),
  })
  .meta({ id: 'Approval' });

const names = Object.values(ENTITLEMENTS).map(({ name }) => name);

export const SubscriptionChange = z
  .strictObject({
    plan: z.string().min(1).max(40).nullable().optional().describe('The slug of the plan. null: no plan.'),
    plan_term_id: Id.optional().describe(
      'Starts a subscription with this term. Default: a subscription without an end.',
    ),
    overrides: z
      .partialRecord(z.enum(names as [string, ...string[]]), z.union([z.int().min(0), z.boolean(), z.null()]))
      .nullable()
      .optional()
      .describe('All values that differ from the plan. null or `{}` if none do.'),
    auto_renew: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'expected plan, plan_term_id, overrides or auto_renew')
  .meta({ id: 'SubscriptionChange' });

const Item = z
  .strictObject({
    name: z.string().min(1).max(1024),
    user_id: Id.optional().describe('The account that will own the domain.'),
    user_email: z
      .string()
      .max(320)
      .includes('@')
      .optional()
      .describe('The email address of this account, instead of its id.'),
    plan: z
      .string()
      .min(1)
      .max(40)
      .nullable()
      .optional()
      .describe("The slug of the plan, or null for no plan. Default: the account's plan."),
  })
  .refine(
    ({ user_id, user_email }) => (user_id === undefined) !== (user_email === undefined),
    'expected either user_id or user_email',
  );

export const DomainBatch = z
  .strictObject({
    domains: boundedArray(Item).min(1).max(MAX_DOMAINS),
    approve: z
      .boolean()
      .default(false)
      .describe(
        'If true, all domains of the call are approved, including those that their accounts already have. They are answered completely before their delegation is checked. They become active when their parent zone names any complete nameserver set of this service to which no other account has the right.',
      ),
    scan: z
      .boolean()
      .default(true)
      .describe(
        'If true, workers look up the records that the current nameservers of new domains have, and import them.',
      ),
  })
  .meta({ id: 'DomainBatch' });

export const DOMAIN_REFUSALS = [
  'validation_failed',
  'unknown_account',
  'unknown_plan',
  'domain_taken',
  'wrong_state',
  'right_taken',
  'dnssec_unavailable',
  'internal_error',
] as const;

export const DomainBatchResult = batchResult(DOMAIN_REFUSALS, {}).meta({ id: 'DomainBatchResult' });
