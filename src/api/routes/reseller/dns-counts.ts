// GET /reseller/v1/analytics/dns: what nameservers answered for a client's domain. The call of customers also takes many domains
// by name, so it is no call for one domain, and is not mounted here by itself.

import { z } from 'zod';
import { QUERY_DOMAIN } from '../../calls/reseller-surface.ts';
import { domainRoute } from '../../calls/route.ts';
import { DnsCounts } from '../../schemas/monitoring/dns-counts.ts';
import { answerOne, PERIOD } from '../monitoring/dns-counts.ts';

export const getClientsDnsAnalytics = domainRoute({
  method: 'GET',
  path: '/reseller/v1/analytics/dns',
  operationId: 'resellerGetDnsAnalytics',
  tag: "Clients' domains",
  summary: 'What the nameservers answered for a domain of a client.',
  description: 'Exact, and about two minutes behind. Needs no plan.',
  permission: 'analytics.view',
  domainIn: 'query',
  query: z.object({ domain: QUERY_DOMAIN, period: PERIOD.optional() }),
  response: DnsCounts,
  run: async (call) => await answerOne(call, call.query.period ?? '24h'),
});
