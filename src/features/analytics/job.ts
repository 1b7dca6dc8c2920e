// Moves the nodes' query counts to the analytics store, and mails owners whose traffic comes near the limit of their
// plan.

import { type Analytics, unlessAway } from '../../analytics/open-analytics.ts';
import { type TrafficHours, trafficHours } from '../../analytics/requests/load-summary.ts';
import { entitlementsOf } from '../../billing/entitlements.ts';
import { GB, toldPercent } from '../../billing/quota.ts';
import { type Rounds, runRounds } from '../../jobs/run-rounds.ts';
import { claimBatch, endBatch, leaveBatch, loadBatch } from '../../store/counts/batches.ts';
import { currentTime } from '../../store/postgres/current-time.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { WorkTools } from '../feature.ts';
import { writeDnsCounts } from './sql-dns.ts';
import { listMetered, type MeteredSubscription, orderTrafficMail, takeTrafficRound } from './sql-mails.ts';
import { loadOctets } from './sql-requests.ts';

interface MovingOptions {
  readonly db: Database;
  readonly store: Analytics;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

/** Nodes report once a minute. */
const MOVE_IDLE_MS = 5000;

export function moveDnsCounts({ db, store, onTrouble, idleMs = MOVE_IDLE_MS }: MovingOptions): Rounds {
  return runRounds({ round: async () => ({ isMore: await moveBatch(db, store) }), idleMs, onTrouble });
}

async function moveBatch(db: Database, store: Analytics): Promise<boolean> {
  const batch = await claimBatch(db);
  if (batch === undefined) return false;
  try {
    await writeDnsCounts(store, batch, await loadBatch(db, batch));
  } catch (error) {
    await leaveBatch(db, batch);
    throw error;
  }
  await endBatch(db, batch);
  return true;
}

const PAGE = 500;
const SECONDS = 20;
const DAY_MS = 86_400_000;

/** Returns the number of mails ordered. If a call is interrupted, the next one does the rest and repeats nothing. */
export async function measureTraffic(
  db: Database,
  store: Pick<Analytics, 'query'>,
  now: Date,
  page = PAGE,
): Promise<number> {
  let ordered = 0;
  for (let after = 0; ; ) {
    const listed = await listMetered(db, after, page);
    const metered = listed.filter((each) => limitOf(each) !== null);
    const former = metered.flatMap((each) => formerHours(each, now));
    // The older period first: after a mail about the newer one, no mail about the older one is ordered.
    ordered += await orderMails(db, store, former);
    ordered += await orderMails(
      db,
      store,
      metered.map((of) => ({ of, hours: trafficHours(of, now) })),
    );
    if (listed.length < page) return ordered;
    after = (listed.at(-1) as MeteredSubscription).domainId;
  }
}

interface Measured {
  readonly of: MeteredSubscription;
  readonly hours: TrafficHours;
}

/** Returns the period as of one day ago, or nothing if that is still the current one. */
function formerHours(of: MeteredSubscription, now: Date): Measured[] {
  const hours = trafficHours(of, new Date(now.getTime() - DAY_MS));
  return hours.start.getTime() === trafficHours(of, now).start.getTime() ? [] : [{ of, hours }];
}

async function orderMails(
  db: Database,
  store: Pick<Analytics, 'query'>,
  measured: readonly Measured[],
): Promise<number> {
  const octets = await loadOctets(
    { store, seconds: SECONDS },
    measured.map(({ of: { domainId }, hours: { from, until } }) => ({ domainId, from, until })),
  );
  let ordered = 0;
  for (const { of, hours } of measured) {
    const used = octets.get(of.domainId) ?? 0;
    const limitGb = limitOf(of);
    const percent = toldPercent(used, limitGb);
    if (percent === undefined || isMailed(of, hours.start, percent)) continue;
    const mail = {
      domainId: of.domainId,
      periodStart: hours.start,
      percent,
      message: sentence(used, limitGb as number, hours),
    };
    if (await orderTrafficMail(db, mail)) ordered++;
  }
  return ordered;
}

/** Avoids a database call. The database checks again. */
function isMailed({ lastMail }: MeteredSubscription, start: Date, percent: number): boolean {
  if (lastMail === null || lastMail.periodStart < start) return false;
  return lastMail.periodStart > start || lastMail.percent >= percent;
}

function limitOf({ plan, overrides }: MeteredSubscription): number | null {
  return entitlementsOf(plan, overrides).maxTrafficGb;
}

function sentence(octets: number, limitGb: number, { start, end }: TrafficHours): string {
  const day = (at: Date) => at.toISOString().slice(0, 10);
  const period = end === undefined ? `Since ${day(start)}` : `From ${day(start)} to ${day(end)}`;
  const share = limitGb === 0 ? '' : ` (${Math.floor((octets * 100) / (limitGb * GB))} %)`;
  return `${period}, the domain used ${(octets / GB).toFixed(1)} GB of the ${limitGb} GB of traffic that its plan includes${share}.`;
}

interface TrafficRounds {
  readonly db: Database;
  readonly store: Pick<Analytics, 'query'>;
  /** Called for each round that ordered mails. */
  readonly onMailed: (mails: number) => void;
  readonly onTrouble: (error: unknown) => void;
  /** The database's clock by default, so that a worker with a wrong clock does not report another period. */
  readonly clock?: () => Promise<Date>;
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;
/** Interval of the check of all domains, by all workers together. */
const EVERY_SECONDS = 300;

export function mailTraffic(options: TrafficRounds): Rounds {
  const { db, store, onMailed, onTrouble, clock = () => currentTime(db), idleMs = IDLE_MS } = options;
  return runRounds({
    idleMs,
    onTrouble,
    async round() {
      if (!(await takeTrafficRound(db, EVERY_SECONDS))) return { isMore: false };
      const mails = await measureTraffic(db, store, await clock());
      if (mails > 0) onMailed(mails);
      return { isMore: false };
    },
  });
}

export function startCounts({ db, analytics, trouble }: WorkTools): Rounds | undefined {
  if (analytics === undefined) return undefined;
  return moveDnsCounts({
    db,
    store: analytics,
    onTrouble: unlessAway((error) => trouble('analytics', error)),
  });
}

/** Returns undefined if there is no analytics store, or if no mail is sent. */
export function startTraffic({ db, analytics, sendsMail, log, trouble }: WorkTools): Rounds | undefined {
  if (analytics === undefined || !sendsMail) return undefined;
  return mailTraffic({
    db,
    store: analytics,
    onMailed: (mails) => log.info({ mails }, 'owners were notified of their traffic'),
    onTrouble: unlessAway((error) => trouble('analytics', error)),
  });
}
