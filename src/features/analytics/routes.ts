// Routes of analytics of requests (docs/api.md "Analytics").

import { z } from 'zod';
import type { AskedRequests, Asking } from '../../analytics/requests/asked-requests.ts';
import {
  loadSummary,
  loadVisitors,
  loadVolume,
  needsLines,
  trafficHours,
} from '../../analytics/requests/load-summary.ts';
import { judgePlan } from '../../api/actions/judge-plan.ts';
import { askStore } from '../../api/analytics/ask-store.ts';
import { invalid, Problem, problem } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { domain, route } from '../../api/calls/route.ts';
import { Timestamp } from '../../api/schemas/fields.ts';
import { GATES } from '../../billing/gates.ts';
import { readNarrowing } from '../../edge/analytics/narrowing.ts';
import { bucketsOf, type Window, windowBefore, windowOf } from '../../edge/analytics/window.ts';
import { isReason, REASONS } from '../../edge/requests/reasons.ts';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { AnalyticsQuery, AnalyticsSummary, RequestsCompare, UnreachableReasons, Visitors } from './schema.ts';
import { loadReasons } from './sql-requests.ts';

/** Plan features that the routes require: totals, sections (with monitoring), or single requests and rankings (with logs). */
type AnalyticsGate = (typeof GATES)['analytics' | 'analytics_sections' | 'raw_logs'];

type Query = z.output<typeof AnalyticsQuery>;
type AnalyticsCall<Q extends Query> = CallOf<'domain', unknown, Q>;

interface Question<Q extends Query> {
  readonly query: Q;
  readonly asking: Asking;
  readonly asked: AskedRequests;
  readonly window: Window;
  readonly now: Date;
}

export const ACCESS = domain('analytics.view', { domainIn: 'query' });

/** Fields that the routes share. */
export const COMMON = { method: 'GET', tag: 'Analytics' } as const;

/** Returns a handler that checks the query and the plan, then calls `answer`. */
export function answering<Q extends Query, R>(
  gate: AnalyticsGate,
  answer: (question: Question<Q>) => Promise<R>,
  judge: (query: Q, window: Window) => Problem | undefined = () => undefined,
): (call: AnalyticsCall<Q>) => Promise<R | Problem> {
  return async (call) => {
    const { domain, query } = call;
    const narrowing = readNarrowing(printWithoutDot(domain.name), query);
    if ('problem' in narrowing) return invalid([narrowing.problem]);
    const now = new Date();
    const window = windowOf(query.period, now);
    const refused =
      judge(query, window) ?? judgePlan(GATES.analytics, domain.plan) ?? judgePlan(gate, domain.plan);
    if (refused !== undefined) return refused;
    const asked = { domainId: domain.id, from: window.from, until: window.until, ...narrowing };
    return await askStore(call, window.seconds, (asking) => answer({ query, asking, asked, window, now }));
  };
}

const LINES_KEPT_MS = 30 * 86_400_000;
const TOO_LONG = {
  field: 'period',
  error:
    'expected at most 7d with path: the preceding period is compared too, and individual requests are kept for 30 days',
};
const UNDER_WILDCARD = {
  field: 'period',
  error:
    'expected at most 7d with a hostname below a wildcard record: only individual requests distinguish such hosts, and they are kept for 30 days',
};
/** True if individual requests are still kept for the window and for the equally long time before it. */
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
    'A visitor who comes in two buckets counts in both, so the counts do not add up. Buckets without visitors are 0.',
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
  summary: 'Requests and bandwidth of a period and of the preceding one.',
  description:
    'The preceding period has the same length, and ends at the same hour of its last bucket as the current period, whose last bucket is incomplete. With `path`, or a `hostname` below a wildcard record, the period is at most 7 days, because individual requests are kept for 30.',
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
      // Omit reasons that this version does not know, because it has no text for them.
      data: counted.flatMap(({ reason, requests }) =>
        isReason(reason) ? [{ reason, ...REASONS[reason], count: requests }] : [],
      ),
    };
  }),
});

const SECONDS = 10;

const getTrafficUsage = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/traffic-usage',
  operationId: 'getTrafficUsage',
  tag: 'Plans',
  summary: 'Traffic of the current quota period, and how much the plan includes.',
  description:
    'Counted by the hour, including the current hour. An hour belongs to the period in which it ends. Requests beyond the limit are still served.',
  response: z
    .object({
      period_start: Timestamp,
      period_end: Timestamp.optional().describe('Absent if the quota is never reset.'),
      requests: z.int().min(0),
      used_bytes: z.int().min(0),
      limit_gb: z.int().min(0).nullable().describe('In units of 10^9 bytes. `null` if unlimited.'),
    })
    .meta({ id: 'TrafficUsage' }),
  problems: ['no_active_plan'],
  async run(call) {
    const { api, domain } = call;
    const subscription = (await ownSubscriptions(api.db, [domain.id])).get(domain.id);
    if (subscription === undefined || domain.plan === null)
      return problem('no_active_plan', 'traffic: the domain has no active plan');
    const { start, end, from, until } = trafficHours(subscription, new Date());
    const volume = await askStore(call, SECONDS, (asking) =>
      loadVolume(asking, { domainId: domain.id, from, until }),
    );
    if (volume instanceof Problem) return volume;
    return {
      period_start: start.toISOString(),
      ...(end !== undefined && { period_end: end.toISOString() }),
      requests: volume.requests,
      used_bytes: volume.octets,
      limit_gb: domain.plan.maxTrafficGb,
    };
  },
});

export const REQUEST_ROUTES = [getSummary, getVisitors, compareRequests, getReasons, getTrafficUsage];
