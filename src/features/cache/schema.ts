// Schemas of purges, cached entries, and edges' reports of them.

import { z } from 'zod';
import { boundedArray, integerText, Timestamp } from '../../api/schemas/fields.ts';
import { isStorageHostOf } from './rules.ts';
import { SORTED_BY, type SortedBy } from './sql-entries.ts';

const MOST_CHARACTERS = 4096;
const text = (what: string) => z.string().min(1).max(MOST_CHARACTERS).optional().describe(what);

export const PurgeWish = z
  .strictObject({
    host: text('All entries of a host; `*.name` selects those of a wildcard record.'),
    url: text('One URL with its query, for http and https.'),
    prefix: text('All entries whose URL begins with this prefix, with any query.'),
    hostname: text(
      'With `store_path`, as in a row of `cache/keys`: this entry, at every edge that stores it there.',
    ),
    store_path: text('Required with `hostname`.'),
  })
  .describe(
    'One of these (`hostname` and `store_path` count as one). An empty object purges the whole domain.',
  )
  .meta({ id: 'PurgeWish' });

export const RefreshWish = z
  .strictObject({
    url: z.string().min(1).max(MOST_CHARACTERS).describe('One URL with its query, for http and https.'),
  })
  .meta({ id: 'RefreshWish' });

const counts = {
  id: z.int(),
  edges: z
    .int()
    .describe(
      'Number of edges that must complete the purge: those that are online, and those that have completed it.',
    ),
  done: z.int().describe('Number of these edges that have completed it.'),
};

export const PurgeOrdered = z
  .object({ message: z.string(), purge: z.object(counts) })
  .meta({ id: 'PurgeOrdered' });

export const Purge = z
  .object({
    ...counts,
    finished: z
      .boolean()
      .describe('True if every online edge has completed it. False while no edge is online.'),
    replaced_by: z
      .int()
      .optional()
      .describe('A later purge of the whole domain, which edges do instead of this one.'),
    created_at: Timestamp,
    nodes: z
      .array(
        z.object({
          node: z.string(),
          live: z.boolean().describe('False if the edge is offline. It does the purge when it is back.'),
          done_at: Timestamp.optional(),
          error: z.string().optional().describe('Why the last attempt of the edge failed.'),
        }),
      )
      .describe('Edges, sorted by name.'),
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
    .describe('A field of the rows; any other text means `cached_at`.'),
  dir: z.enum(['asc', 'desc']).default('desc'),
  hostname: z.string().max(MOST_HOST).optional().describe('Exact storage host.'),
  host: z
    .string()
    .max(MOST_HOST)
    .optional()
    .describe('Part of the host, or a pattern for the whole host, in which `*` is any text.'),
  node: z.string().max(MOST_HOST).optional().describe('Name of the edge. Case-sensitive.'),
  path: z
    .string()
    .max(MOST_PATH)
    .optional()
    .describe('Part of the path, or a pattern for the whole path, in which `*` is any text.'),
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
          variant: z.string().describe('What else the response depends on. Empty if nothing.'),
          method: z.string(),
          node: z.string().describe('Edge that cached the entry.'),
          hostname: z
            .string()
            .describe(
              'Host that the entry is stored under. With `store_path`, it selects the entry for a purge.',
            ),
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
      .describe('Number of old entries that are not listed, because a domain has at most a million here.'),
  })
  .meta({ id: 'CachedEntries' });

const MOST_WORDS = 1000;
const reportedText = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');
const Host = z
  .string()
  .max(253)
  .regex(/^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/, 'expected a host in lowercase, without port');
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
    host: Host.describe('Host that the visitor requested.'),
    path: reportedText(2048).regex(/^\//, 'expected a path that begins with /'),
    query: reportedText(2048).default('').describe('Without `?`.'),
    variant: reportedText(256).default('').describe('What else the response depends on. Empty if nothing.'),
    method: z.string().regex(/^[A-Z]{1,16}$/, 'expected a method in uppercase'),
    hostname: StorageHost.describe(
      'Host that the entry is stored under. For a wildcard record, `*.` and its name.',
    ),
    store_path: reportedText(4096).min(1).describe('Where the entry is stored. Purges of one entry name it.'),
    key_hash: KeyHash.describe('Identifies the entry among those that the edge has of the domain.'),
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
  at: At.describe('Entries that were cached later are kept.'),
});
const Cleared = z
  .strictObject({ op: z.literal('cleared'), domain_id: DomainId, at: At })
  .describe('All entries of the domain were deleted.');
const Restarted = z
  .strictObject({ op: z.literal('restarted'), at: At })
  .describe('All earlier entries of the edge were deleted.');

export const CacheReportBody = z.strictObject({
  entries: boundedArray(z.discriminatedUnion('op', [Stored, Evicted, Cleared, Restarted])).max(MOST_WORDS),
});

export const CacheReported = z.object({
  stored: z.int().describe('New entries, and entries that replaced older ones.'),
  evicted: z.int(),
  ignored: z
    .int()
    .describe(
      'Entries of hosts that the edge does not serve, and entries that are not newer, have expired, or lie in the future.',
    ),
  dropped: z.int().describe('Number of old entries that were deleted because the domain had too many.'),
});
