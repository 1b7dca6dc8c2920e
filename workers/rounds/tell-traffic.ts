// Tells owners by mail when a domain has used 80 and 100 % of the traffic that its plan includes, once each for a quota period. While
// the analytics store is away nothing is told; a round that failed is made up for by the next one.

import type { Analytics } from '../../src/analytics/open-analytics.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { takeTrafficRound } from '../../src/store/people/traffic-mails.ts';
import { currentTime } from '../../src/store/postgres/current-time.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { measureTraffic } from './measure-traffic.ts';

interface TrafficTelling {
  readonly db: Database;
  readonly store: Pick<Analytics, 'query'>;
  /** Called for each round that ordered mails. */
  readonly onTold: (mails: number) => void;
  readonly onTrouble: (error: unknown) => void;
  /** By default the database's: a machine whose clock is wrong tells nothing of another period. */
  readonly clock?: () => Promise<Date>;
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;
/** All workers together look so often at all domains. */
const EVERY_SECONDS = 300;

export function tellTraffic(options: TrafficTelling): Rounds {
  const { db, store, onTold, onTrouble, clock = () => currentTime(db), idleMs = IDLE_MS } = options;
  return runRounds({
    idleMs,
    onTrouble,
    async round() {
      if (!(await takeTrafficRound(db, EVERY_SECONDS))) return { isMore: false };
      const told = await measureTraffic(db, store, await clock());
      if (told > 0) onTold(told);
      return { isMore: false };
    },
  });
}
