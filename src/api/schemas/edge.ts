// Bodies that edge nodes send and receive, which `/edge/v1/openapi.yaml` describes. An edge is trusted with its
// domains but not with the memory of this process, so every part of what it sends is bounded.

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
  .refine((text) => decodeEdgeCursor(text) !== undefined, 'is not a cursor that this service issued')
  .describe('A cursor from a line of the feed.');

export const ConfigQuery = z.object({
  after: Cursor.optional().describe('Sends only what follows this cursor. Default: sends everything.'),
});

export const EdgeHealthBody = z.strictObject({
  load: z
    .number()
    .min(0)
    .max(MOST_LOAD)
    .describe('Load as a fraction of the capacity of the edge: 1 is full.'),
  version: z
    .string()
    .min(1)
    .max(64)
    .regex(PLAIN, 'must not contain control characters')
    .describe("Version of the edge's software."),
  cursor: Cursor.optional().describe('Cursor of the last line of the feed that the edge has applied.'),
  unsupported: boundedArray(
    z.strictObject({
      rule_id: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
      why: z.string().min(1).max(MOST_WHY).regex(PLAIN, 'must not contain control characters'),
    }),
  )
    .max(MOST_UNSUPPORTED)
    .optional()
    .describe('Rules that the edge received and cannot apply. Default: none.'),
});

export const EdgePurgeBody = z.strictObject({
  error: z
    .string()
    .min(1)
    .max(MOST_WHY)
    .regex(PLAIN, 'must not contain control characters')
    .optional()
    .describe('Why the purge failed. Absent if it succeeded.'),
});

export const EdgeSelf = z.object({
  name: z.string(),
  region: z.string().describe('The edge receives the domains that this region serves.'),
  drained: z.boolean().describe('True if its addresses are not published, so that no new visitors arrive.'),
});

export const EdgeKey = z.object({
  id: z.int(),
  certificate: z.string().describe('PEM, the leaf first.'),
  private_key: z.string().describe('PEM (PKCS #8).'),
});

export const ConfigLines = z
  .string()
  .describe(
    'Lines of JSON. `{cursor, snapshot: "begin"}`, then `{cursor, domain, version, config}` for each domain, then `{cursor, snapshot: "end"}`: the edge drops every domain that none of these lines named. After that, one line for each change (`config` null: the edge no longer serves the domain), and `{cursor}` after 15 s without another line. A line may be repeated. If two lines are about the same domain, the one with the higher `version` is valid.',
  );

export const PurgeLines = z
  .string()
  .describe(
    'Lines of JSON. `{id, domain_id, domain, target}`: remove this from the cache, then report it. `target` has `kind` (all, host, prefix, url, stored), `host`, `path`, `query`, `hostname`, `store_path`. If `refresh` is true, fetch the URL again. `{}` immediately, and after 15 s without another line.',
  );

const Count = z.int().min(0);

/** Describes the lines only. `src/edge/requests` validates them, because schemas are too slow for so many lines. */
export const RequestLine = z
  .object({
    at: z.iso
      .datetime({ offset: true })
      .describe('Time at which the request arrived: at most 24 h ago by the clock of this service.'),
    host: z.string().describe("As in the visitor's request, without a port."),
    method: z.string().describe('An unknown method is stored as `OTHER`.'),
    uri: z.string().describe(`Path and query. Only the first ${MOST_URI_CHARACTERS} characters are stored.`),
    status: z.int().min(0).max(999).describe('0 if the visitor got no response.'),
    octets: Count.describe('Octets sent to the visitor.'),
    ms: Count.describe('Milliseconds from the request to the end of the response.'),
    client: z.string().describe("The visitor's address."),
    tls_fingerprint: z.string().max(128).nullish(),
    cache: z.enum(CACHE_STATES).nullish().describe('Absent if no cache was consulted.'),
    rule: z.int().min(1).nullish().describe('The id of the rule that acted.'),
    reason: z
      .enum(Object.keys(REASONS) as [string, ...string[]])
      .nullish()
      .describe('Why no origin responded.'),
    websocket: z.boolean().nullish(),
  })
  .describe('Format of each line of the body.');

export const BatchAnswer = z.object({
  accepted: Count,
  dropped: z
    .object({
      line: Count.describe('The line is not valid JSON, or a field is not valid.'),
      time: Count.describe('`at` is more than 24 h ago or more than 5 minutes ahead.'),
      host: Count.describe('The host does not belong to a domain that this edge serves.'),
    })
    .describe('Lines that are not counted, by reason.'),
});
