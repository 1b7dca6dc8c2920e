// Domains of several accounts that an operator creates in one call.

import { z } from 'zod';
import { DOMAIN_STATUSES } from '../../../zone/domain/domain-status.ts';
import { boundedArray } from '../bounded-array.ts';
import { Id } from '../ids.ts';

const MAX_DOMAINS = 100;

const Item = z
  .strictObject({
    name: z.string().min(1).max(1024),
    user_id: Id.optional().describe('The account that owns it.'),
    user_email: z
      .string()
      .max(320)
      .includes('@')
      .optional()
      .describe('The email of this account, instead of its id.'),
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
        'If true, the first set of our nameservers that the parent shows proves each domain for its account. This includes domains that the accounts have already.',
      ),
    scan: z
      .boolean()
      .default(true)
      .describe('If true, workers look for the records that new domains have elsewhere, and import them.'),
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
] as const;

export const DomainBatchResult = z
  .object({
    domains: z
      .array(
        z.object({
          name: z.string().describe('The name as given in the call.'),
          outcome: z.enum(['created', 'exists', 'refused']).describe('`exists`: the account had it already.'),
          id: Id.optional(),
          status: z.enum(DOMAIN_STATUSES).optional(),
          served: z.enum(['full', 'apex', 'none']).optional(),
          change_id: Id.optional(),
          findings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
          code: z.enum(DOMAIN_REFUSALS).optional().describe('The reason of the refusal.'),
          error: z.string().optional().describe('The reason as text.'),
        }),
      )
      .describe('In the order of the call.'),
    created: z.int().min(0),
    existing: z.int().min(0),
    refused: z.int().min(0),
  })
  .meta({ id: 'DomainBatchResult' });
