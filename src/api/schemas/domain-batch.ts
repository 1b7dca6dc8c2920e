// Domains that are created in one call, and the results.

import { z } from 'zod';
import { DOMAIN_STATUSES, SERVED } from '../../zone/domain/domain-status.ts';
import { Verification } from './checks/verification.ts';
import { DomainCreate } from './domain.ts';
import { boundedArray, Id } from './fields.ts';

export const MAX_DOMAINS = 1000;

/** Builds the schema of the results from the codes of refusals. */
export function batchResult<const C extends readonly [string, ...string[]], M extends z.ZodRawShape>(
  codes: C,
  more: M,
) {
  const item = z.object({
    name: z.string().describe('The name as in the request.'),
    outcome: z
      .enum(['created', 'exists', 'refused'])
      .describe('`exists`: the account already has the domain.'),
    id: Id.optional(),
    status: z.enum(DOMAIN_STATUSES).optional(),
    served: z.enum(SERVED).optional(),
    change_id: Id.optional(),
    findings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
    ...more,
    code: z.enum(codes).optional().describe('Why the domain was refused.'),
    error: z
      .string()
      .optional()
      .describe(
        'The reason as text for people. If a field is wrong, the text begins with its path, such as `domains[4].name`.',
      ),
  });
  return z.object({
    domains: z.array(item).describe('In the order of the request.'),
    created: z.int().min(0),
    existing: z.int().min(0),
    refused: z.int().min(0),
  });
}

export const OwnDomainBatch = z
  .strictObject({ domains: boundedArray(DomainCreate).min(1).max(MAX_DOMAINS) })
  .meta({ id: 'OwnDomainBatch' });

export const OWN_DOMAIN_REFUSALS = [
  'validation_failed',
  'domain_taken',
  'plan_limit',
  'dnssec_unavailable',
  'internal_error',
] as const;

export const OwnDomainBatchResult = batchResult(OWN_DOMAIN_REFUSALS, {
  svc_ns: z.array(z.string()).optional().describe('The nameservers to which the domain should be delegated.'),
  verification: Verification.optional().describe('In external mode: the TXT record that proves the domain.'),
}).meta({ id: 'OwnDomainBatchResult' });
