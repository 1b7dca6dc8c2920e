// Judges the uptime of monitored domains, one minute after the other, two minutes after each ended. While the analytics store is away
// nothing is judged; the minutes are taken up when it is back.

import type { OriginMinutes } from '../../src/analytics/uptime/origin-minutes.ts';
import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { judgeDomains, type Outages } from '../../src/store/uptime/judge-domains.ts';
import { loadSuspects } from '../../src/store/uptime/load-uptime.ts';
import { endUptimeRound, keepUptimeRound, takeUptimeRound } from '../../src/store/uptime/uptime-round.ts';

/** What edges reported, by minute. Every call rejects while the store is away. */
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
/**
 * A minute is judged once lines of a later minute have come: until then its own may still be on their way. After this
 * time it is judged without.
 */
const QUIET_MINUTES = 10;
/** What is older is noted, and told nobody. */
const MOST_TOLD_MINUTES = 60;

export function watchUptime(options: UptimeWatch): Rounds {
  const { onTrouble, idleMs = IDLE_MS } = options;
  return runRounds({ idleMs, onTrouble, round: () => judgeNext(options) });
}

/** `isMore`: another minute may be due already. */
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
      await keepUptimeRound(db);
      after = last;
    }
    judged = minute;
    onJudged({ begun, ended });
    return { isMore: minute < newestDue };
  } finally {
    await endUptimeRound(db, judged);
  }
}
