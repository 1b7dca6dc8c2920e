// Distributes requests among several origins.

import { z } from 'zod';
import { originHost, originPort } from './origin-fields.ts';
import { ruleKind } from './rule-kind.ts';
import { line } from './text-fields.ts';

const MAX_ORIGINS = 32;

const origin = z.strictObject({
  host: originHost,
  port: originPort,
  scheme: z.enum(['http', 'https']).default('https'),
  weight: z.int().min(1).max(100).default(1),
  backup: z.boolean().default(false).describe('Used only if no other origin answers.'),
});

const health = z.strictObject({
  path: line(1024, 1)
    .refine((text) => /^\/[\x21-\x7e]*$/.test(text), 'expected a path')
    .default('/'),
  status: z.int().min(200).max(599).default(200),
  interval_seconds: z.int().min(5).max(3600).default(30),
});

export const originPool = ruleKind({
  type: 'origin_pool',
  what: 'Distributes requests among several origins.',
  fields: {
    origins: z.array(origin).min(1).max(MAX_ORIGINS),
    method: z.enum(['round_robin', 'hash', 'least_time']).default('round_robin'),
    health: health
      .nullable()
      .optional()
      .describe('Health check of the origins. Absent or null: edges judge origins only by requests.'),
  },
  judge({ origins }, add) {
    const seen = new Set<string>();
    for (const [i, { host, port }] of origins.slice(0, MAX_ORIGINS).entries()) {
      const place = `${host} ${port}`;
      if (seen.has(place)) add(['origins', i, 'host'], 'is listed twice');
      seen.add(place);
    }
    if (origins.length > 0 && origins.every(({ backup }) => backup))
      add(['origins', 0, 'backup'], 'at least one origin must not be a backup');
  },
  gate: 'rules',
  countsDryRun: false,
  origins: ({ origins }) => origins.map(({ host }, i) => ({ path: ['origins', i, 'host'], host })),
  toEdge: ({ origins, method, health }) => ({
    type: 'origin_pool',
    origins,
    method,
    ...(health !== undefined && health !== null && { health }),
  }),
});
