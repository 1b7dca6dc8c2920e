// Rounds that evaluate the uptime of each minute.

import { Counter } from 'prom-client';
import { unlessAway } from '../../analytics/open-analytics.ts';
import { type Rounds, runRounds } from '../../jobs/run-rounds.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { WorkTools } from '../feature.ts';
import { OriginMinutes } from './minutes.ts';
import {
  endUptimeRound,
  judgeDomains,
  loadSuspects,
  type Outages,
  renewUptimeLease,
  takeUptimeRound,
} from './sql-judge.ts';

/** Edges' reports by minute. Every call rejects while the analytics store is unavailable. */
export type MinuteSource = Pick<OriginMinutes, 'newest' | 'hosts'>;

interface UptimeWatch {
  readonly db: Database;
  readonly source: MinuteSource;
  readonly sendsMail: boolean;
  readonly onJudged: (outages: Outages) => void;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

const IDLE_MS = 5000;
const PAGE = 500;
/** A minute is evaluated when a later one has reports, or after this time. */
const QUIET_MINUTES = 10;
/** Older outages are recorded without a notification. */
const MOST_TOLD_MINUTES = 60;

function watchUptime(options: UptimeWatch): Rounds {
  const { onTrouble, idleMs = IDLE_MS } = options;
  return runRounds({ idleMs, onTrouble, round: () => judgeNext(options) });
}

/** `isMore` is true if another minute may already be due. */
export async function judgeNext({
  db,
  source,
  sendsMail,
  onJudged,
}: Omit<UptimeWatch, 'onTrouble' | 'idleMs'>): Promise<{ readonly isMore: boolean }> {
  const round = await takeUptimeRound(db);
  if (round === undefined) return { isMore: false };
  const { minute, age, last: newestDue } = round;
  let judged: number | undefined;
  try {
    if (age < QUIET_MINUTES) {
      const newest = await source.newest();
      if (newest === undefined || newest <= minute) return { isMore: false };
    }
    let begun = 0;
    let ended = 0;
    for (let after = 0; after < Number.MAX_SAFE_INTEGER; ) {
      const suspects = await loadSuspects(db, after, PAGE);
      let last = suspects.length < PAGE ? Number.MAX_SAFE_INTEGER : (suspects.at(-1) as number);
      const hosts = await source.hosts({ minute, after, last, suspects, limit: PAGE });
      const seen = [...new Set(hosts.map(({ domainId }) => domainId))];
      if (seen.length >= PAGE) last = Math.max(...seen);
      const domainIds = [...new Set([...seen, ...suspects.filter((id) => id <= last)])];
      const tells = age <= MOST_TOLD_MINUTES;
      const outages = await judgeDomains(db, { minute, domainIds, hosts, tells, sendsMail });
      begun += outages.begun;
      ended += outages.ended;
      await renewUptimeLease(db);
      after = last;
    }
    judged = minute;
    onJudged({ begun, ended });
    return { isMore: minute < newestDue };
  } finally {
    await endUptimeRound(db, judged);
  }
}

export function startUptime({
  db,
  analytics,
  sendsMail,
  registry,
  log,
  trouble,
}: WorkTools): Rounds | undefined {
  const minutes = new Counter({
    name: 'zonefleet_uptime_minutes_total',
    help: 'Minutes for which the uptime of all monitored domains was evaluated.',
    registers: [registry],
  });
  const outages = new Counter({
    name: 'zonefleet_outages_total',
    help: 'Incidents in which the origins of a domain are down, by change: begun, ended.',
    labelNames: ['became'],
    registers: [registry],
  });
  if (analytics === undefined) return undefined;
  return watchUptime({
    db,
    source: new OriginMinutes(analytics),
    sendsMail,
    onJudged({ begun, ended }) {
      minutes.inc();
      outages.inc({ became: 'begun' }, begun);
      outages.inc({ became: 'ended' }, ended);
      if (begun + ended > 0) log.info({ begun, ended }, 'outages of origins began or ended');
    },
    onTrouble: unlessAway((error) => trouble('uptime', error)),
  });
}
