// Challenges visitors before they reach the origin.

import { z } from 'zod';
import { ruleKind } from './rule-kind.ts';

export const captcha = ruleKind({
  type: 'captcha',
  what: 'Challenges visitors.',
  fields: {
    mode: z.enum(['js', 'image']).default('js'),
    valid_seconds: z
      .int()
      .min(60)
      .max(2_592_000)
      .default(3600)
      .describe('How long a solved challenge is valid.'),
  },
  gate: 'rules',
  countsDryRun: true,
  toEdge: ({ mode, valid_seconds }) => ({ type: 'captcha', mode, valid_seconds }),
});
