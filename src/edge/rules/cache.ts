// Defines what is cached, for how long, and with which key.

import { z } from 'zod';
import { HEADER_NAME, NOT_A_HEADER } from './header-names.ts';
import { ruleKind } from './rule-kind.ts';
import { distinct, line } from './text-fields.ts';

const MAX_TTL = 31_536_000;
const header = z
  .string()
  .refine((text) => HEADER_NAME.test(text), NOT_A_HEADER)
  .meta({ maxLength: 64 });

export const cache = ruleKind({
  type: 'cache',
  what: 'Defines what is cached, for how long, and with which key.',
  fields: {
    ttl_seconds: z.int().min(0).max(MAX_TTL).default(3600).describe('How long the edge keeps a response.'),
    browser_ttl_seconds: z
      .int()
      .min(0)
      .max(MAX_TTL)
      .nullable()
      .optional()
      .describe('How long browsers may keep it. Absent or null: as the origin specifies.'),
    key_query: z
      .enum(['all', 'none', 'list'])
      .default('all')
      .describe('Query parameters that are part of the cache key.'),
    key_query_list: distinct(line(128, 1), 64).default([]).describe('Required with `key_query: list`.'),
    key_headers: distinct(header, 16).default([]).describe('Request headers that are part of the cache key.'),
    bypass: z.boolean().default(false).describe('If true, the cache is neither read nor written.'),
    respect_origin: z
      .boolean()
      .default(true)
      .describe('If true, Cache-Control of the origin takes precedence.'),
  },
  judge({ key_query, key_query_list }, add) {
    if (key_query === 'list' && key_query_list.length === 0)
      add(['key_query_list'], 'is required with key_query list');
  },
  gate: 'rules',
  countsDryRun: false,
  toEdge: ({ browser_ttl_seconds: browser, ...rest }) => ({
    type: 'cache',
    ttl_seconds: rest.ttl_seconds,
    ...(typeof browser === 'number' && { browser_ttl_seconds: browser }),
    key_query: rest.key_query,
    key_query_list: rest.key_query_list,
    key_headers: rest.key_headers,
    bypass: rest.bypass,
    respect_origin: rest.respect_origin,
  }),
});
