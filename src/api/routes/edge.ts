// The calls of edge nodes: the stream of their configuration, health reports, and batches of requests.

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
  summary: 'Streams the configuration of the edge: all domains that it serves, then each change.',
  description:
    'The response does not end on its own. It ends if the token becomes invalid, if the edge has opened too many newer streams, if the edge does not read it, or when this process stops. Then call again with the cursor of the last applied line.',
  query: ConfigQuery,
  response: ConfigLines,
  textResponse: 'application/x-ndjson',
  async run({ api: { edgeFeed }, edge, query: { after }, gone }) {
    if (edgeFeed === undefined) return unavailable('this process serves no edges', 60);
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
  audit: { none: 'edges report every ten seconds' },
  tag: 'Edges',
  summary: 'Reports that the edge is running. Call it every ten seconds.',
  description: 'If an edge has not reported for a minute, its addresses are removed from proxied names.',
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
  audit: { none: 'edges report every request of a visitor' },
  tag: 'Edges',
  summary: 'Reports the requests that the edge answered, one line for each.',
  description:
    'Lines of JSON, plain or gzip, with a header `Batch-Id`. Repeating a batch within a day changes nothing and returns the first response. Invalid lines are dropped and counted. After 400, 413, 415 and 422, drop the batch. After 429 and 503, repeat it later with the same `Batch-Id`.',
  body: RequestLine,
  streamedBody: true,
  statuses: [413, 415, 422],
  response: BatchAnswer,
  async run({ api: { requests }, edge, body: line }) {
    if (requests === undefined) return unavailable('analytics is not enabled', OFF_RETRY_SECONDS);
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
