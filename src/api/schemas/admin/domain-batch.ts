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
    user_email: z.string().max(320).includes('@').optional().describe('The same by its email.'),
    plan: z
      .string()
      .min(1)
      .max(40)
      .nullable()
      .optional()
      .describe("By its slug; null: no plan. By default the account's."),
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
        'Lets the first set of our nameservers that the parent shows prove each domain for its account, also those that the accounts have already.',
      ),
    scan: z
      .boolean()
      .default(true)
      .describe('Looks in the background for the records that new domains have elsewhere, and imports them.'),
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
          name: z.string().describe('As in the call.'),
          outcome: z.enum(['created', 'exists', 'refused']).describe('`exists`: the account had it already.'),
          id: Id.optional(),
          status: z.enum(DOMAIN_STATUSES).optional(),
          served: z.enum(['full', 'apex', 'none']).optional(),
          change_id: Id.optional(),
          findings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
          code: z.enum(DOMAIN_REFUSALS).optional().describe('Why it was refused.'),
          error: z.string().optional().describe('The same for people.'),
        }),
      )
      .describe('In the order of the call.'),
    created: z.int().min(0),
    existing: z.int().min(0),
    refused: z.int().min(0),
  })
  .meta({ id: 'DomainBatchResult' });
