// Traffic of a domain in the quota period of its subscription.

import { z } from 'zod';
import { loadVolume } from '../../../analytics/requests/load-summary.ts';
import { trafficHours } from '../../../analytics/requests/traffic-hours.ts';
import { ownSubscriptions } from '../../../store/accounts/subscriptions.ts';
import { askStore } from '../../analytics/ask-store.ts';
import { Problem, problem } from '../../answers/problem.ts';
import { domain, route } from '../../calls/route.ts';
import { Timestamp } from '../../schemas/timestamp.ts';

const SECONDS = 10;

export const getTrafficUsage = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/traffic-usage',
  operationId: 'getTrafficUsage',
  tag: 'Plans',
  summary: 'The traffic of the quota period, and how much the plan includes.',
  description:
    'Counted by the hour, including the current hour. An hour belongs to the period in which it ends. Beyond the limit nothing is refused.',
  response: z
    .object({
      period_start: Timestamp,
      period_end: Timestamp.optional().describe('Absent: the quota is never reset.'),
      requests: z.int().min(0),
      used_bytes: z.int().min(0),
      limit_gb: z.int().min(0).nullable().describe('In 10^9 bytes; `null`: no limit.'),
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
