// Route of the uptime of a domain (docs/api.md "Uptime").

import { z } from 'zod';
import { domain, route } from '../../api/calls/route.ts';
import { PERIOD_NAMES, periodMs } from '../../edge/analytics/window.ts';
import { errorPct, uptimePct } from './rules.ts';
import { Uptime } from './schema.ts';
import { isMonitored, listIncidents, loadJudgedUntil } from './sql.ts';

export const getUptime = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/uptime',
  operationId: 'getUptime',
  tag: 'Monitoring',
  summary: 'Incidents in which the origins of the domain were down.',
  description:
    "Based on edges' reports about records with `monitor`, and on the settings of the domain that begin with `uptime_`. Times without requests count as up.",
  query: z.object({
    period: z
      .string()
      .max(20)
      .optional()
      .describe(`${PERIOD_NAMES.join(', ')}; any other text means 24h.`),
  }),
  response: Uptime,
  async run({ api, domain, query }) {
    const lengthMs = periodMs(query.period);
    const [until, incidents, monitored] = await Promise.all([
      loadJudgedUntil(api.db),
      listIncidents(api.db, domain.id, lengthMs / 1000),
      isMonitored(api.db, domain.id),
    ]);
    const begin = new Date(Math.max(Date.now() - lengthMs, domain.createdAt.getTime()));
    const spans = incidents.map(({ startedAt, endedAt }) => ({
      begin: startedAt,
      end: endedAt ?? until ?? startedAt,
    }));
    const pct = until === undefined || !monitored ? undefined : uptimePct({ begin, end: until }, spans);
    return {
      ...(pct !== undefined && { uptime_pct: pct }),
      ...(until !== undefined && { judged_until: until.toISOString() }),
      incidents: incidents.map(({ id, startedAt, endedAt, requests, failures }) => ({
        id,
        started_at: startedAt.toISOString(),
        ...(endedAt !== null && { ended_at: endedAt.toISOString() }),
        error_pct: errorPct({ requests, failures }),
      })),
    };
  },
});
