// Schemas of purges, of cached entries and of what edges report of them.

import { z } from 'zod';
import { boundedArray, integerText, Timestamp } from '../../api/schemas/fields.ts';
import { isStorageHostOf } from './rules.ts';
import { SORTED_BY, type SortedBy } from './sql-entries.ts';

const MOST_CHARACTERS = 4096;
const text = (what: string) => z.string().min(1).max(MOST_CHARACTERS).optional().describe(what);

export const PurgeWish = z
  .strictObject({
    host: text('Everything of one host; `*.` before it is that of a wildcard record.'),
    url: text('One URL with its query, over http and https.'),
    prefix: text('Everything whose URL begins so, with any query.'),
    hostname: text(
      'With `store_path`, as a row of `cache/keys` has them: this entry, at every edge that has it there.',
    ),
    store_path: text('Beside `hostname`.'),
  })
  .describe('One of these (hostname and store_path count as one); none is the whole domain.')
  .meta({ id: 'PurgeWish' });

export const RefreshWish = z
  .strictObject({
    url: z.string().min(1).max(MOST_CHARACTERS).describe('One URL with its query, over http and https.'),
  })
  .meta({ id: 'RefreshWish' });

const counts = {
  id: z.int(),
  edges: z.int().describe('Edges that have to do it: those that are heard, and those that have done it.'),
  done: z.int().describe('Those of them that have done it.'),
};

export const PurgeOrdered = z
  .object({ message: z.string(), purge: z.object(counts) })
  .meta({ id: 'PurgeOrdered' });

export const Purge = z
  .object({
    ...counts,
    finished: z.boolean().describe('Every edge that is heard has done it; false while none is heard.'),
    replaced_by: z
      .int()
      .optional()
      .describe('A later purge of the whole domain, which edges do in its place: look at that one.'),
    created_at: Timestamp,
    nodes: z
      .array(
        z.object({
          node: z.string(),
          live: z.boolean().describe('False: it is silent, and does it when it is back.'),
          done_at: Timestamp.optional(),
          error: z.string().optional().describe('Why it could not when it last tried.'),
        }),
      )
      .describe('The edges, by name.'),
  })
  .meta({ id: 'Purge' });

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

const MOST_WORDS = 1000;
const reportedText = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, 'must have no controls');
const Host = z
  .string()
  .max(253)
  .regex(/^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/, 'expected a host in lower case, without port');
const StorageHost = z
  .string()
  .max(255)
  .regex(/^(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/, 'expected a host, or `*.` and a host');
const At = z.iso.datetime();
const KeyHash = reportedText(128).min(1);
const DomainId = z.int().min(1);

const Stored = z
  .strictObject({
    op: z.literal('stored'),
    host: Host.describe('As the visitor asked.'),
    path: reportedText(2048).regex(/^\//, 'expected a path that begins with /'),
    query: reportedText(2048).default('').describe('Without the `?`.'),
    variant: reportedText(256).default('').describe('What else the answer depends on; empty: nothing.'),
    method: z.string().regex(/^[A-Z]{1,16}$/, 'expected a method in capitals'),
    hostname: StorageHost.describe(
      'The host that it is stored under: of a wildcard record `*.` and its name.',
    ),
    store_path: reportedText(4096).min(1).describe('Where it is stored; purges of one entry have it.'),
    key_hash: KeyHash.describe('Names the entry among those that the edge has of the domain.'),
    cache_key: reportedText(4096).default(''),
    l2_key: reportedText(256).default(''),
    size: z.int().min(0).describe('In bytes.'),
    cached_at: At,
    expires_at: At,
  })
  .refine(({ host, hostname }) => isStorageHostOf(hostname, host), {
    path: ['hostname'],
    error: 'expected the host, or the wildcard above it',
  });
const Evicted = z.strictObject({
  op: z.literal('evicted'),
  domain_id: DomainId,
  key_hash: KeyHash,
  at: At.describe('An entry that was cached later stays.'),
});
const Cleared = z
  .strictObject({ op: z.literal('cleared'), domain_id: DomainId, at: At })
  .describe('Everything of the domain is gone.');
const Restarted = z
  .strictObject({ op: z.literal('restarted'), at: At })
  .describe('Everything that the edge had before is gone.');

export const CacheReportBody = z.strictObject({
  entries: boundedArray(z.discriminatedUnion('op', [Stored, Evicted, Cleared, Restarted])).max(MOST_WORDS),
});

export const CacheReported = z.object({
  stored: z.int().describe('New entries, and newer ones in the place of older.'),
  evicted: z.int(),
  ignored: z
    .int()
    .describe(
      'Stored ones of hosts that the edge does not serve, that are not newer, over already, or of the future.',
    ),
  dropped: z.int().describe('There was no room for so many of the domain: the oldest went.'),
});
