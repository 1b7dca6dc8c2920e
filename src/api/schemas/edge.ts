// What edge nodes send and get (the documents of `/edge/v1/openapi.yaml` are made from it). An edge is trusted with the domains
// that it serves, not with our memory: each part of what it sends is bounded.

import { z } from 'zod';
import { decodeEdgeCursor, MAX_CURSOR_CHARACTERS } from '../../store/edges/edge-cursor.ts';
import { boundedArray } from './bounded-array.ts';

const MOST_UNSUPPORTED = 1000;
const MOST_WHY = 200;
const MOST_LOAD = 100_000;

const PLAIN = /^[\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]*$/;

const Cursor = z
  .string()
  .max(MAX_CURSOR_CHARACTERS)
  .refine((text) => decodeEdgeCursor(text) !== undefined, 'is no cursor of ours')
  .describe('As a line of the feed had it.');

export const ConfigQuery = z.object({
  after: Cursor.optional().describe('Go on behind this cursor; without it, everything is told.'),
});

export const EdgeHealthBody = z.strictObject({
  load: z
    .number()
    .min(0)
    .max(MOST_LOAD)
    .describe('How busy the edge is, as a share of what it can do: 1 is full.'),
  version: z
    .string()
    .min(1)
    .max(64)
    .regex(PLAIN, 'must have no controls')
    .describe('Of the software of the edge.'),
  cursor: Cursor.optional().describe('How far it has applied the feed.'),
  unsupported: boundedArray(
    z.strictObject({
      rule_id: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
      why: z.string().min(1).max(MOST_WHY).regex(PLAIN, 'must have no controls'),
    }),
  )
    .max(MOST_UNSUPPORTED)
    .optional()
    .describe('The rules that it was told and cannot obey; left out: none.'),
});

export const EdgePurgeBody = z.strictObject({
  error: z
    .string()
    .min(1)
    .max(MOST_WHY)
    .regex(PLAIN, 'must have no controls')
    .optional()
    .describe('Why it could not be done; left out: it is done.'),
});

export const EdgeSelf = z.object({
  name: z.string(),
  region: z.string().describe('The edge is told the domains that this region serves.'),
  drained: z.boolean().describe('Its addresses are not published: no new visitors come.'),
});

export const EdgeKey = z.object({
  id: z.int(),
  certificate: z.string().describe('PEM, the leaf first.'),
  private_key: z.string().describe('PEM (PKCS #8).'),
});

export const ConfigLines = z
  .string()
  .describe(
    'Lines of JSON. `{cursor, snapshot: "begin"}`, then `{cursor, domain, version, config}` for each domain, then `{cursor, snapshot: "end"}`: what the edge holds and none of these lines named is dropped. After that a line for each change (`config` null: it is served here no more), and `{cursor}` after 15 s without another line. A line may come twice; of two about one domain the one with the higher `version` counts.',
  );

export const PurgeLines = z
  .string()
  .describe(
    'Lines of JSON. `{id, domain_id, domain, target}`: take this out of the cache, then report it; `target` has `kind` (all, host, prefix, url, stored), `host`, `path`, `query`, `hostname`, `store_path`; `refresh` true: fetch the URL anew. `{}` at once, and after 15 s without another line.',
  );
