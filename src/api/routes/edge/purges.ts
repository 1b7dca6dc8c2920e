// What edges are told to purge, and what they say of it.

import { z } from 'zod';
import { removePurged } from '../../../store/cached/remove-entries.ts';
import { reportPurge } from '../../../store/purges/open-purges.ts';
import { notFound, unavailable } from '../../answers/problem.ts';
import { StreamedLines } from '../../answers/stream-lines.ts';
import { edgeRoute } from '../../calls/route.ts';
import { streamPurges } from '../../edge/purge-stream.ts';
import { EdgePurgeBody, PurgeLines } from '../../schemas/edge.ts';
import { idText } from '../../schemas/ids.ts';
import { Message } from '../../schemas/message.ts';

const STREAMS_A_MINUTE = 60;
/** As many as it is told at a time, and some that it says again. */
const REPORTS_A_MINUTE = 1200;
const REPORT_BYTES = 4096;

export const followPurges = edgeRoute({
  method: 'GET',
  path: '/edge/v1/purges',
  operationId: 'followPurges',
  tag: 'Edges',
  summary: 'What the edge has to take out of its cache, and has not yet.',
  description:
    'The answer does not end by itself. What the edge was told and did not report is told again by its next stream.',
  perMinute: STREAMS_A_MINUTE,
  response: PurgeLines,
  textResponse: 'application/x-ndjson',
  async run({ api: { edgeFeed }, edge, gone }) {
    if (edgeFeed === undefined) return unavailable('no edge is served here', 60);
    const { ended, leave } = edgeFeed.join(edge);
    const leavePurges = edgeFeed.purges.join(edge.id);
    const leaveBoth = () => {
      leave();
      leavePurges();
    };
    const over = AbortSignal.any([gone, ended]);
    over.addEventListener('abort', leaveBoth);
    if (over.aborted) leaveBoth();
    return new StreamedLines(streamPurges(edgeFeed.purges, { edgeId: edge.id, ended: over }), leaveBoth);
  },
});

export const reportEdgePurge = edgeRoute({
  method: 'POST',
  path: '/edge/v1/purges/{id}',
  operationId: 'reportPurge',
  audit: { none: 'edges report what they were told to do' },
  tag: 'Edges',
  summary: 'Says that a purge is done, or why it could not be.',
  description: 'With `error` it stays to be done, and is told again by the next stream.',
  perMinute: REPORTS_A_MINUTE,
  params: z.object({ id: idText }),
  body: EdgePurgeBody.nullish(),
  bodyBytes: REPORT_BYTES,
  response: Message,
  async run({ api: { db, cacheRegistry }, edge, params: { id }, body }) {
    const purge = await reportPurge(db, edge.id, id, body?.error);
    if (purge === undefined) return notFound('purge');
    // Nobody waits for it: where the registry is away, the edge says itself what is gone.
    if (body?.error === undefined)
      cacheRegistry?.inBackground((registry) => removePurged(registry, edge.name, purge));
    return { message: 'noted' };
  },
});
