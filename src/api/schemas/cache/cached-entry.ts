// What edges have cached of a domain, page by page.

import { z } from 'zod';
import { SORTED_BY, type SortedBy } from '../../../store/cached/list-entries.ts';
import { integerText } from '../query-text.ts';
import { Timestamp } from '../timestamp.ts';

const MOST_ROWS = 1000;
const MOST_OFFSET = 2_147_483_647;
const MOST_HOST = 255;
const MOST_PATH = 2048;

export const CachedEntriesQuery = z.object({
  limit: integerText(1, MOST_ROWS).default(100),
  offset: integerText(0, MOST_OFFSET).default(0),
  sort: z
    .string()
    .transform((text): SortedBy => SORTED_BY.find((column) => column === text) ?? 'cached_at')
    .default('cached_at')
    .describe('A field of the rows; anything else is `cached_at`.'),
  dir: z.enum(['asc', 'desc']).default('desc'),
  hostname: z.string().max(MOST_HOST).optional().describe('Exactly this storage host.'),
  host: z
    .string()
    .max(MOST_HOST)
    .optional()
    .describe('A part of the host; with `*`, any run of characters, the whole of it.'),
  node: z.string().max(MOST_HOST).optional().describe('The edge that has it; case counts.'),
  path: z
    .string()
    .max(MOST_PATH)
    .optional()
    .describe('A part of the path; with `*`, any run of characters, the whole of it.'),
});

export const CachedEntries = z
  .object({
    rows: z.array(
      z
        .object({
          domain_id: z.int(),
          domain: z.string(),
          host: z.string(),
          path: z.string(),
          query: z.string().describe('Without `?`.'),
          variant: z.string().describe('What else the answer depends on; empty: nothing.'),
          method: z.string(),
          node: z.string().describe('The edge that has cached it.'),
          hostname: z.string().describe('The host that it is stored under; with `store_path` it is purged.'),
          store_path: z.string(),
          key_hash: z.string(),
          cache_key: z.string(),
          l2_key: z.string(),
          size: z.int().describe('In bytes.'),
          cached_at: Timestamp,
          expires_at: Timestamp,
        })
        .meta({ id: 'CachedEntry' }),
    ),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    dropped: z
      .int()
      .optional()
      .describe('Entries, the oldest, that are not shown since a domain has a million here at most.'),
  })
  .meta({ id: 'CachedEntries' });
