// What a workers process does for uptime: the rounds, their metric and log.

import { Counter, type Registry } from 'prom-client';
import type { Analytics } from '../src/analytics/open-analytics.ts';
import { OriginMinutes } from '../src/analytics/uptime/origin-minutes.ts';
import type { JobLog } from '../src/jobs/job.ts';
import type { Rounds } from '../src/jobs/run-rounds.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { watchUptime } from './rounds/watch-uptime.ts';
import { unlessAway } from './start-analytics.ts';

interface UptimeOptions {
  readonly db: Database;
  /** Undefined: nothing is judged. */
  readonly analytics: Analytics | undefined;
  readonly sendsMail: boolean;
  readonly registry: Registry;
  readonly log: JobLog;
  readonly trouble: (error: Error) => void;
}

export function startUptime({ db, analytics, sendsMail, registry, log, trouble }: UptimeOptions): Rounds {
  const minutes = new Counter({
    name: 'zonefleet_uptime_minutes_total',
    help: 'Minutes of which the uptime of all monitored domains was judged.',
    registers: [registry],
  });
  const outages = new Counter({
    name: 'zonefleet_outages_total',
    help: 'Incidents of domains whose origins are down, by what they did: begun, ended.',
    labelNames: ['became'],
    registers: [registry],
  });
  if (analytics === undefined) return { stop: async () => {} };
  return watchUptime({
    db,
    source: new OriginMinutes(analytics),
    sendsMail,
    onJudged({ begun, ended }) {
      minutes.inc();
      outages.inc({ became: 'begun' }, begun);
      outages.inc({ became: 'ended' }, ended);
      if (begun + ended > 0) log.info({ begun, ended }, 'outages of origins');
    },
    onTrouble: unlessAway(trouble),
  });
}
