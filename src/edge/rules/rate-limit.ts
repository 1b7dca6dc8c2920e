// Limits the number of requests of one client in a period.

import { z } from 'zod';
import { HEADER_NAME, NOT_A_HEADER } from './header-names.ts';
import { ruleKind } from './rule-kind.ts';

export const rateLimit = ruleKind({
  type: 'rate_limit',
  what: 'Limits the number of requests of one client in a period.',
  fields: {
    requests: z.int().min(1).max(1_000_000).default(100),
    period_seconds: z.int().min(1).max(86_400).default(60),
    key: z
      .enum(['ip', 'ip_path', 'header'])
      .default('ip')
      .describe('Requests are counted per address, per address and path, or per value of a header.'),
    header: z
      .string()
      .max(64)
      .refine((text) => text === '' || HEADER_NAME.test(text), NOT_A_HEADER)
      .default('')
      .describe('Name of the header. Required with `key: header`.'),
    action: z.enum(['block', 'captcha', 'delay']).default('block'),
    block_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(60)
      .describe('How long a client is blocked after exceeding the limit.'),
  },
  judge({ key, header }, add) {
    if (key === 'header' && header === '') add(['header'], 'is required with key header');
  },
  gate: 'rules',
  countsDryRun: true,
  toEdge: ({ requests, period_seconds, key, header, action, block_seconds }) => ({
    type: 'rate_limit',
    requests,
    period_seconds,
    key,
    ...(key === 'header' && { header }),
    action,
    block_seconds,
  }),
});
