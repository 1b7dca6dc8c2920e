// Routes of rankings and log lines of requests.

import { z } from 'zod';
import { route } from '../../api/calls/route.ts';
import { integerText } from '../../api/schemas/fields.ts';
import { GATES } from '../../billing/gates.ts';
import { ACCESS, answering, COMMON } from './routes.ts';
import { AnalyticsQuery, LogLines, TopRequests, TopUris } from './schema.ts';
import { loadLines, loadRanking, loadTopUris, RANKED_METRICS } from './sql-requests.ts';

const TOP_URIS = 10;
const TOP_REQUESTS = 100;
const MOST_LINES = 1000;
const DEFAULT_LINES = 100;

const getTopUris = route(ACCESS, {
  ...COMMON,
  path: '/analytics/top-uris',
  operationId: 'getTopUris',
  summary: 'The ten most requested pages.',
  description:
    'URIs include the query. Paths that end in a file extension, such as `.html` or `.php`, are left out. To include them, use `GET /analytics/top-requests?metric=uris`.',
  query: AnalyticsQuery,
  response: TopUris,
  problems: ['no_active_plan', 'plan_feature'],
  run: answering(GATES.analytics_sections, async ({ asking, asked, window: { bucket } }) => {
    const ranked = await loadTopUris(asking, asked, { bucket, limit: TOP_URIS });
    return { data: ranked.map(({ value, requests }) => ({ uri: value, request_count: requests })) };
  }),
});

const getTopRequests = route(ACCESS, {
  ...COMMON,
  path: '/analytics/top-requests',
  operationId: 'getTopRequests',
  summary: 'The 100 paths, hosts, methods, statuses or clients with the most requests.',
  description:
    'URIs exclude the query. The status `none` counts requests without a response. Clients are networks, as in `GET /analytics/logs`.',
  query: AnalyticsQuery.extend({ metric: z.enum(RANKED_METRICS) }),
  response: TopRequests,
  problems: ['no_active_plan', 'plan_feature'],
  run: answering(GATES.raw_logs, async ({ query: { metric }, asking, asked, window: { bucket } }) => {
    const ranked = await loadRanking(asking, asked, { metric, bucket, limit: TOP_REQUESTS });
    return { data: ranked.map(({ value, requests }) => ({ value, request_count: requests })) };
  }),
});

const getLogs = route(ACCESS, {
  ...COMMON,
  path: '/analytics/logs',
  operationId: 'getRequestLogs',
  summary: 'The newest individual requests.',
  description: 'Requests are kept for 30 days.',
  query: AnalyticsQuery.extend({
    limit: integerText(1, MOST_LINES).optional().describe(`Default ${DEFAULT_LINES}.`),
  }),
  response: LogLines,
  problems: ['no_active_plan', 'plan_feature'],
  run: answering(GATES.raw_logs, async ({ query: { limit = DEFAULT_LINES }, asking, asked }) => {
    const lines = await loadLines(asking, asked, limit);
    return {
      data: lines.map((line) => ({
        timestamp: line.at.toISOString(),
        host: line.host,
        method: line.method,
        uri: line.uri,
        ...(line.status !== 0 && { status: line.status }),
        bytes: line.octets,
        response_time: line.ms,
        client: line.client,
        cache: line.cache,
        ...(line.rule !== 0 && { rule_id: line.rule }),
        ...(line.reason !== '' && { reason: line.reason }),
        websocket: line.websocket,
      })),
    };
  }),
});

export const RANKING_ROUTES = [getTopUris, getTopRequests, getLogs];
