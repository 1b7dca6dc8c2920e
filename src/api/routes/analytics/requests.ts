// Counts of a domain's requests, visitors, and failures by reason.

import { loadReasons } from '../../../analytics/requests/load-reasons.ts';
import {
  loadSummary,
  loadVisitors,
  loadVolume,
  needsLines,
} from '../../../analytics/requests/load-summary.ts';
import { GATES } from '../../../billing/gates.ts';
import { bucketsOf, type Window, windowBefore } from '../../../edge/analytics/window.ts';
import { isReason, REASONS } from '../../../edge/requests/reasons.ts';
import { invalid } from '../../answers/problem.ts';
import { route } from '../../calls/route.ts';
import {
  AnalyticsSummary,
  RequestsCompare,
  UnreachableReasons,
  Visitors,
} from '../../schemas/analytics/answers.ts';
import { AnalyticsQuery } from '../../schemas/analytics/query.ts';
import { ACCESS, answering, COMMON } from './questions.ts';

const LINES_KEPT_MS = 30 * 86_400_000;
const TOO_LONG = {
  field: 'period',
  error:
    'expected at most 7d with path: the time before is compared too, and single requests are kept for 30 days',
};
const UNDER_WILDCARD = {
  field: 'period',
  error:
    'with a hostname below a wildcard record at most 7d: only single requests tell such hosts apart, and they are kept for 30 days',
};
/** Reports whether single requests are still kept for the window and for the equally long time before it. */
const isKeptTwice = ({ from, until }: Window) => 2 * (until.getTime() - from.getTime()) <= LINES_KEPT_MS;

const getSummary = route(ACCESS, {
  ...COMMON,
  path: '/analytics/summary',
  operationId: 'getAnalyticsSummary',
  summary: "Totals of a domain's requests in a period.",
  query: AnalyticsQuery,
  response: AnalyticsSummary,
  problems: ['no_active_plan'],
  run: answering(GATES.analytics, async ({ asking, asked }) => {
    const { requests, octets, visitors, failures, times } = await loadSummary(asking, asked);
    const { average, p90, p95, p99 } = times;
    return {
      total_requests: requests,
      total_bandwidth: octets,
      unique_visitors: visitors,
      error_rate: requests === 0 ? 0 : failures / requests,
      avg_response_time: average,
      p90,
      p95,
      p99,
    };
  }),
});

const getVisitors = route(ACCESS, {
  ...COMMON,
  path: '/analytics/visitors',
  operationId: 'getVisitors',
  summary: 'Unique visitors by hour or day.',
  description:
    'Who comes in two buckets counts in both, so they do not add up. Buckets without visitors are 0.',
  query: AnalyticsQuery,
  response: Visitors,
  problems: ['no_active_plan', 'plan_feature'],
  run: answering(GATES.analytics_sections, async ({ asking, asked, window }) => {
    const counts = await loadVisitors(asking, asked, window.bucket);
    return {
      data: bucketsOf(window).map((at) => ({
        timestamp: at.toISOString(),
        count: counts.get(at.getTime()) ?? 0,
      })),
    };
  }),
});

const compareRequests = route(ACCESS, {
  ...COMMON,
  path: '/analytics/requests-compare',
  operationId: 'compareRequests',
  summary: 'Requests and bandwidth of a period, and of the period before.',
  description:
    'The time before is as long, and ends at the same hour of its last bucket, which is still filling in the present one. With `path`, or a `hostname` below a wildcard record, the period is at most 7 days: single requests are kept for 30.',
  query: AnalyticsQuery,
  response: RequestsCompare,
  problems: ['no_active_plan', 'plan_feature'],
  run: answering(
    GATES.analytics_sections,
    async ({ asking, asked, window, now }) => {
      const before = { ...asked, ...windowBefore(window, now) };
      if (!isKeptTwice(window) && (await needsLines(asking, before))) return invalid([UNDER_WILDCARD]);
      const current = await loadVolume(asking, asked);
      const previous = await loadVolume(asking, before);
      return {
        current: { requests: current.requests, bandwidth: current.octets },
        previous: { requests: previous.requests, bandwidth: previous.octets },
      };
    },
    ({ path = '' }, window) => (path !== '' && !isKeptTwice(window) ? invalid([TOO_LONG]) : undefined),
  ),
});

const getReasons = route(ACCESS, {
  ...COMMON,
  path: '/analytics/unreachable-reasons',
  operationId: 'getUnreachableReasons',
  summary: 'Failed requests by reason and responsible party.',
  query: AnalyticsQuery,
  response: UnreachableReasons,
  problems: ['no_active_plan', 'plan_feature'],
  run: answering(GATES.analytics_sections, async ({ asking, asked, window }) => {
    const counted = await loadReasons(asking, asked, window.bucket);
    return {
      // Omit reasons that only another version knows: this one has no text for them.
      data: counted.flatMap(({ reason, requests }) =>
        isReason(reason) ? [{ reason, ...REASONS[reason], count: requests }] : [],
      ),
    };
  }),
});

export const REQUEST_ROUTES = [getSummary, getVisitors, compareRequests, getReasons];
