// Says what is cached, for how long, and by what it is told apart.

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
  what: 'Says what is cached, for how long, and by what it is told apart.',
  fields: {
    ttl_seconds: z.int().min(0).max(MAX_TTL).default(3600).describe('How long the edge keeps an answer.'),
    browser_ttl_seconds: z
      .int()
      .min(0)
      .max(MAX_TTL)
      .nullable()
      .optional()
      .describe('How long browsers may keep it. Absent or null: as the origin says.'),
    key_query: z
      .enum(['all', 'none', 'list'])
      .default('all')
      .describe('Which parameters of the query tell cached answers apart.'),
    key_query_list: distinct(line(128, 1), 64).default([]).describe('Needed with `key_query: list`.'),
    key_headers: distinct(header, 16)
      .default([])
      .describe('Headers of the request that tell cached answers apart.'),
    bypass: z.boolean().default(false).describe('Nothing is read from the cache or written to it.'),
    respect_origin: z.boolean().default(true).describe('What the origin says in Cache-Control counts first.'),
  },
  judge({ key_query, key_query_list }, add) {
    if (key_query === 'list' && key_query_list.length === 0)
      add(['key_query_list'], 'is needed with key_query list');
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
