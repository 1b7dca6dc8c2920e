// Analytics: the requests that edges answered, and the queries that nameservers answered (docs/api.md "Analytics").

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';
import { writeTrafficLetter } from './rules.ts';

export const analytics: Feature = {
  name: 'analytics',
  schema: ['tables.sql'],
  privileges: {
    tables: {
      traffic_round: grants('', '', 'su'),
      traffic_mails: grants('', '', 's'), // written by `order_traffic_mail`
    },
    functions: { 'order_traffic_mail(bigint, timestamptz, integer, text)': ['zonefleet_worker'] },
  },
  letters: {
    traffic: ({ email, domain, message }, publicUrl) =>
      domain === null || message === null
        ? undefined
        : writeTrafficLetter(email, { domain, message, publicUrl }),
  },
  tags: { Analytics: 'Requests that edges answered for a domain: totals, clients and results.' },
  routes: async () => [
    ...(await import('./routes-dns.ts')).DNS_ROUTES,
    ...(await import('./routes.ts')).REQUEST_ROUTES,
    ...(await import('./routes-rankings.ts')).RANKING_ROUTES,
  ],
  resellerRoutes: async () => (await import('./routes-dns.ts')).RESELLER_DNS_ROUTES,
  rounds: async () => {
    const { startCounts, startTraffic } = await import('./job.ts');
    return [startCounts, startTraffic];
  },
  commands: {
    listed: {
      analytics: 'show the requests and DNS queries answered for a domain; requires the analytics store',
    },
    load: async () => (await import('./cli.ts')).addAnalyticsCommands,
  },
};
