// Runs the core rule set (CRS) over requests.

import { z } from 'zod';
import { ruleKind } from './rule-kind.ts';
import { distinct } from './text-fields.ts';

const ruleId = z
  .string()
  .refine(
    (text) => /^[1-9][0-9]{0,8}$/.test(text),
    'expected the id of a rule of the core rule set, in digits',
  )
  .meta({ maxLength: 9 });

export const waf = ruleKind({
  type: 'waf',
  what: 'Runs the OWASP core rule set, and blocks requests that reach an anomaly score.',
  fields: {
    paranoia: z.int().min(1).max(4).default(1).describe('The paranoia level of the core rule set.'),
    threshold: z.int().min(1).max(100).default(5).describe('Anomaly score at which a request is blocked.'),
    body_cap_kb: z.int().min(0).max(1024).default(128).describe('How much of a body is inspected. 0: none.'),
    rule_excludes: distinct(ruleId, 256).default([]).describe('Ids of disabled rules of the core rule set.'),
  },
  gate: 'rules',
  countsDryRun: true,
  toEdge: ({ paranoia, threshold, body_cap_kb, rule_excludes }) => ({
    type: 'waf',
    paranoia,
    threshold,
    body_cap_kb,
    rule_excludes,
  }),
});
