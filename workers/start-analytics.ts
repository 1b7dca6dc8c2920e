// Starts the connection to the analytics store, its watch, its metric and its log lines.

import { Gauge, type Registry } from 'prom-client';
import { type Analytics, openAnalytics } from '../src/analytics/open-analytics.ts';
import type { JobLog } from '../src/jobs/job.ts';
import { watchAnalytics } from './rounds/watch-analytics.ts';

interface StartedAnalytics {
  /** Undefined if there is no store. */
  readonly analytics: Analytics | undefined;
  stop(): Promise<void>;
}

export function startAnalytics(url: string | undefined, registry: Registry, log: JobLog): StartedAnalytics {
  if (url === undefined) return { analytics: undefined, stop: async () => {} };
  const analytics = openAnalytics(url);
  const watch = watchAnalytics(analytics, (fault) => {
    if (fault === undefined) log.info({}, 'the analytics store is available');
    else log.error({ err: fault }, 'the analytics store is unavailable');
  });
  new Gauge({
    name: 'zonefleet_analytics_up',
    help: '1 while the analytics store is available.',
    registers: [registry],
    collect() {
      this.set(watch.answers() === true ? 1 : 0);
    },
  });
  return {
    analytics,
    async stop() {
      await analytics.close();
      await watch.stop();
    },
  };
}
