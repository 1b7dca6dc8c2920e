// GET /reseller/v1/analytics/dns: counts the queries for a client's domain. The customers' route also takes many domains by
// name. It is therefore not a domain route, and is not mounted for resellers automatically.

import { z } from 'zod';
import { QUERY_DOMAIN } from '../../calls/reseller-surface.ts';
import { domain, route } from '../../calls/route.ts';
import { DnsCounts } from '../../schemas/monitoring/dns-counts.ts';
import { answerOne, PERIOD } from '../monitoring/dns-counts.ts';

export const getClientsDnsAnalytics = route(domain('analytics.view', { domainIn: 'query' }), {
  method: 'GET',
  path: '/reseller/v1/analytics/dns',
  operationId: 'resellerGetDnsAnalytics',
  tag: "Clients' domains",
  summary: 'What the nameservers answered for a domain of a client.',
  description: 'Exact, and about two minutes behind. Needs no plan.',
  query: z.object({ domain: QUERY_DOMAIN, period: PERIOD.optional() }),
  response: DnsCounts,
  run: async (call) => await answerOne(call, call.query.period ?? '24h'),
});
