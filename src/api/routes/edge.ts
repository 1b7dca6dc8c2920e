// What edge nodes call: the stream of their config, reports of their health, and batches of requests.

import { decodeEdgeCursor } from '../../store/edges/edge-cursor.ts';
import { saveEdgeHealth } from '../../store/edges/edges.ts';
import { badRequest, unavailable } from '../answers/problem.ts';
import { StreamedLines } from '../answers/streams.ts';
import { outsideAddress } from '../callers/caller.ts';
import { edge, type Route, route } from '../calls/route.ts';
import { streamConfigs } from '../edge/config-stream.ts';
import type { StreamedBody } from '../requests/streamed-body.ts';
import { REQUEST_BOUNDS } from '../requests/take-requests.ts';
import {
  BatchAnswer,
  ConfigLines,
  ConfigQuery,
  EdgeHealthBody,
  EdgeSelf,
  RequestLine,
} from '../schemas/edge.ts';

/** An edge opens a new stream only when the previous one has ended. */
const STREAMS_PER_MINUTE = 60;

const followConfig = route(edge(STREAMS_PER_MINUTE), {
  method: 'GET',
  path: '/edge/v1/config',
  operationId: 'followConfig',
  tag: 'Edges',
  summary: 'Everything that the edge serves, then each change as it happens.',
  description:
    'The answer does not end by itself: it ends when the token counts no more, when the edge has begun more streams than it may have, when it does not read, and when this process stops. Ask again with the cursor of the last line that was applied.',
  query: ConfigQuery,
  response: ConfigLines,
  textResponse: 'application/x-ndjson',
  async run({ api: { edgeFeed }, edge, query: { after }, gone }) {
    if (edgeFeed === undefined) return unavailable('no edge is served here', 60);
    const { ended, leave } = edgeFeed.join(edge);
    const over = AbortSignal.any([gone, ended]);
    over.addEventListener('abort', leave);
    if (over.aborted) leave();
    const cursor = after === undefined ? undefined : decodeEdgeCursor(after);
    return new StreamedLines(streamConfigs(edgeFeed, { region: edge.region, cursor, ended: over }), leave);
  },
});

/** An edge reports every ten seconds, and whenever something changes. */
const HEALTH_REPORTS_PER_MINUTE = 60;
const HEALTH_BYTES = 512 * 1024;

const reportHealth = route(edge(HEALTH_REPORTS_PER_MINUTE), {
  method: 'POST',
  path: '/edge/v1/health',
  operationId: 'reportHealth',
  audit: { none: 'edges report themselves each ten seconds' },
  tag: 'Edges',
  summary: 'Says that the edge is there, each ten seconds.',
  description: 'An edge that is not heard for a minute is taken out of what proxied names publish.',
  bodyBytes: HEALTH_BYTES,
  body: EdgeHealthBody,
  response: EdgeSelf,
  async run({ api: { db }, edge, body: { load, version, cursor, unsupported = [] } }) {
    const address = outsideAddress(edge.address);
    await saveEdgeHealth(db, edge, { load, software: version, cursor, unsupported, address });
    return { name: edge.name, region: edge.region, drained: edge.isDrained };
  },
});

/** An edge needs at most one per second. */
const BATCHES_PER_MINUTE = 120;
const BATCH_ID = /^[A-Za-z0-9_-]{1,64}$/;
const OFF_RETRY_SECONDS = 300;

const reportRequests = route(edge(BATCHES_PER_MINUTE), {
  method: 'POST',
  path: '/edge/v1/requests',
  operationId: 'reportRequests',
  audit: { none: 'edges report every request of visitors' },
  tag: 'Edges',
  summary: 'What the edge has answered: a line for each request.',
  description:
    'Lines of JSON, plain or gzip, with a header `Batch-Id`: a repeat of a batch within a day changes nothing and is answered as the first time. Lines that do not count are dropped and counted. 400, 413, 415 and 422: drop the batch; 429 and 503: repeat it later, with the same `Batch-Id`.',
  body: RequestLine,
  streamedBody: true,
  statuses: [413, 415, 422],
  response: BatchAnswer,
  async run({ api: { requests }, edge, body: line }) {
    if (requests === undefined) return unavailable('analytics are off', OFF_RETRY_SECONDS);
    const body = line as unknown as StreamedBody | undefined;
    if (body === undefined || body === null) return badRequest('the body is missing');
    const batch = body.headers['batch-id'];
    if (typeof batch !== 'string' || !BATCH_ID.test(batch))
      return badRequest(
        'the header Batch-Id must be a UUID, or up to 64 letters, digits, hyphens and underscores',
      );
    return body.judge(REQUEST_BOUNDS) ?? (await requests.take(edge, batch, body));
  },
});

export const CORE_EDGE_ROUTES: readonly Route[] = [followConfig, reportHealth, reportRequests];
