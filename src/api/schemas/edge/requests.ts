// What edges report of requests, for the description: `src/edge/requests` judges the lines, which are too many for schemas.

import { z } from 'zod';
import { REASONS } from '../../../edge/requests/reasons.ts';
import { CACHE_STATES, MOST_URI_CHARACTERS } from '../../../edge/requests/request-line.ts';

const Count = z.int().min(0);

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
