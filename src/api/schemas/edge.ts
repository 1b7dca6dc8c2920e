// Bodies that edge nodes send and receive; `/edge/v1/openapi.yaml` is made from them. An edge is trusted with its domains
// but not with the memory of this process, so every part of what it sends is bounded.

import { z } from 'zod';
import { REASONS } from '../../edge/requests/reasons.ts';
import { CACHE_STATES, MOST_URI_CHARACTERS } from '../../edge/requests/request-line.ts';
import { decodeEdgeCursor, MAX_CURSOR_CHARACTERS } from '../../store/edges/edge-cursor.ts';
import { boundedArray } from './fields.ts';

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

const Count = z.int().min(0);

/** Only describes the lines. `src/edge/requests` validates them, because there are too many for schemas. */
export const RequestLine = z
  .object({
    at: z.iso.datetime({ offset: true }).describe('When the request came, at most 24 h ago by our clock.'),
    host: z.string().describe('As the visitor asked for it, without a port.'),
    method: z.string().describe('One that is not known is kept as `OTHER`.'),
    uri: z.string().describe(`Path and query; ${MOST_URI_CHARACTERS} characters are kept.`),
    status: z.int().min(0).max(999).describe('0: the visitor got no answer.'),
    octets: Count.describe('Sent to the visitor.'),
    ms: Count.describe('From the request to the end of the answer.'),
    client: z.string().describe("The visitor's address."),
    tls_fingerprint: z.string().max(128).nullish(),
    cache: z.enum(CACHE_STATES).nullish().describe('Left out: no cache was asked.'),
    rule: z.int().min(1).nullish().describe('The id of the rule that acted.'),
    reason: z
      .enum(Object.keys(REASONS) as [string, ...string[]])
      .nullish()
      .describe('Why no origin answered.'),
    websocket: z.boolean().nullish(),
  })
  .describe('Each line of the body.');

export const BatchAnswer = z.object({
  accepted: Count,
  dropped: z
    .object({
      line: Count.describe('Not to be read, or with a field that may not be so.'),
      time: Count.describe('`at` is more than 24 h ago, or more than 5 minutes ahead.'),
      host: Count.describe('Not a host of a domain that this edge serves.'),
    })
    .describe('Lines that do not count, by why.'),
});
