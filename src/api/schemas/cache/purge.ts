// Purges of what edges have cached.

import { z } from 'zod';
import { Timestamp } from '../timestamp.ts';

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
