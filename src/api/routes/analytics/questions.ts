// Shared parts of the routes about requests: their access, the selection of requests, and the required plan.

import type { z } from 'zod';
import type { AskedRequests, Asking } from '../../../analytics/requests/asked-requests.ts';
import { GATES } from '../../../billing/gates.ts';
import { readNarrowing } from '../../../edge/analytics/narrowing.ts';
import { type Window, windowOf } from '../../../edge/analytics/window.ts';
import { printWithoutDot } from '../../../zone/name-text.ts';
import { judgePlan } from '../../actions/judge-plan.ts';
import { askStore } from '../../analytics/ask-store.ts';
import { invalid, type Problem } from '../../answers/problem.ts';
import type { CallOf } from '../../calls/call.ts';
import { domain } from '../../calls/route.ts';
import type { AnalyticsQuery } from '../../schemas/analytics/query.ts';

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

/** Common members of the routes. */
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
