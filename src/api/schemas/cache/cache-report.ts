// What an edge says of its cache, and what it is answered.

import { z } from 'zod';
import { isStorageHostOf } from '../../../edge/cached/cached-report.ts';
import { boundedArray } from '../bounded-array.ts';

const MOST_WORDS = 1000;
const text = (most: number) =>
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
const KeyHash = text(128).min(1);
const DomainId = z.int().min(1);

const Stored = z
  .strictObject({
    op: z.literal('stored'),
    host: Host.describe('As the visitor asked.'),
    path: text(2048).regex(/^\//, 'expected a path that begins with /'),
    query: text(2048).default('').describe('Without the `?`.'),
    variant: text(256).default('').describe('What else the answer depends on; empty: nothing.'),
    method: z.string().regex(/^[A-Z]{1,16}$/, 'expected a method in capitals'),
    hostname: StorageHost.describe(
      'The host that it is stored under: of a wildcard record `*.` and its name.',
    ),
    store_path: text(4096).min(1).describe('Where it is stored; purges of one entry have it.'),
    key_hash: KeyHash.describe('Names the entry among those that the edge has of the domain.'),
    cache_key: text(4096).default(''),
    l2_key: text(256).default(''),
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
