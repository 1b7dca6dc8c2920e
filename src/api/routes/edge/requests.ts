// `POST /edge/v1/requests`: takes batches of requests that an edge has answered.

import { badRequest, unavailable } from '../../answers/problem.ts';
import { edge, route } from '../../calls/route.ts';
import type { StreamedBody } from '../../requests/streamed-body.ts';
import { REQUEST_BOUNDS } from '../../requests/take-requests.ts';
import { BatchAnswer, RequestLine } from '../../schemas/edge/requests.ts';

/** An edge needs at most one per second. */
const CALLS_A_MINUTE = 120;
const BATCH_ID = /^[A-Za-z0-9_-]{1,64}$/;
const OFF_RETRY_SECONDS = 300;

export const reportRequests = route(edge(CALLS_A_MINUTE), {
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
