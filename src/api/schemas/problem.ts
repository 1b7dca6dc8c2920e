// The body of every refused call.

import { z } from 'zod';
import { PROBLEM_CODES } from '../answers/problem.ts';

const codes = Object.keys(PROBLEM_CODES).map((code) => `\`${code}\``);

export const ProblemBody = z
  .object({
    error: z.string().describe('For people; its wording may change.'),
    code: z
      .string()
      .optional()
      .describe(
        `For programs, where there is one. Known are ${codes.join(', ')}; others may come: take a code that you do not know as absent.`,
      ),
    fields: z
      .array(z.object({ field: z.string(), error: z.string() }))
      .optional()
      .describe('With `validation_failed`: what is wrong, by field.'),
    items: z
      .array(
        z.object({
          list: z.enum(['create', 'update', 'delete', 'replace']),
          index: z.int().min(0),
          field: z.string().optional(),
          error: z.string(),
        }),
      )
      .optional()
      .describe('Of a batch: what is wrong, by item.'),
    limit: z.int().optional().describe('With `plan_limit`: how many the plan allows.'),
    domains: z
      .array(z.object({ id: z.int(), user_id: z.int(), status: z.string() }))
      .optional()
      .describe('With `domain_ambiguous`: the domains of this name. Say which by its id in the path.'),
    above: z
      .array(
        z.object({
          limit: z.string().describe('The entitlement of the plan.'),
          what: z.string().describe('As in `domain_usage`.'),
          used: z.int(),
          allowed: z.int(),
        }),
      )
      .optional()
      .describe('Of a purchase or a switch: what the domain uses more of than the plan allows.'),
    feature: z
      .string()
      .optional()
      .describe('With `plan_feature`: the field of the features that is not enabled.'),
    invited_email: z
      .string()
      .optional()
      .describe('With `invite_email_mismatch`: the email that is invited, masked.'),
    message: z.string().optional().describe('Of removed routes: what to use instead.'),
  })
  .meta({ id: 'Problem' });
