// What a workers process does about traffic that comes near what plans include: the rounds, and their log.

import { type Analytics, unlessAway } from '../src/analytics/open-analytics.ts';
import type { JobLog } from '../src/jobs/job.ts';
import type { Rounds } from '../src/jobs/run-rounds.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { tellTraffic } from './rounds/tell-traffic.ts';

interface TrafficOptions {
  readonly db: Database;
  /** Undefined: nobody knows the traffic. */
  readonly analytics: Analytics | undefined;
  /** False: there is no mail server, and nothing is noted as told. */
  readonly sendsMail: boolean;
  readonly log: JobLog;
  readonly trouble: (error: Error) => void;
}

export function startTraffic({ db, analytics, sendsMail, log, trouble }: TrafficOptions): Rounds {
  if (analytics === undefined || !sendsMail) return { stop: async () => {} };
  return tellTraffic({
    db,
    store: analytics,
    onTold: (mails) => log.info({ mails }, 'owners are told of their traffic'),
    onTrouble: unlessAway(trouble),
  });
}
