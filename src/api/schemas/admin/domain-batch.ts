// Domains of several accounts that an operator creates in one call.

import { z } from 'zod';
import { DOMAIN_STATUSES, SERVED } from '../../../zone/domain/domain-status.ts';
import { boundedArray } from '../bounded-array.ts';
import { Id } from '../ids.ts';

const MAX_DOMAINS = 100;

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
        'If true, all domains of the call are approved, including those that their accounts have already: they are answered completely before their delegation is checked, and become active when their parent zone names any complete set of nameservers of this service to which no other account has the right.',
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
] as const;

export const DomainBatchResult = z
  .object({
    domains: z
      .array(
        z.object({
          name: z.string().describe('The name as in the request.'),
          outcome: z
            .enum(['created', 'exists', 'refused'])
            .describe('`exists`: the account has the domain already.'),
          id: Id.optional(),
          status: z.enum(DOMAIN_STATUSES).optional(),
          served: z.enum(SERVED).optional(),
          change_id: Id.optional(),
          findings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
          code: z.enum(DOMAIN_REFUSALS).optional().describe('Why the domain is refused.'),
          error: z
            .string()
            .optional()
            .describe(
              'The same for people to read. If a field is wrong, the text begins with its path, such as `domains[4].plan`.',
            ),
        }),
      )
      .describe('In the order of the request.'),
    created: z.int().min(0),
    existing: z.int().min(0),
    refused: z.int().min(0),
  })
  .meta({ id: 'DomainBatchResult' });
