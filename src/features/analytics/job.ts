// Rounds that move the nodes' counts to the analytics store, and mail owners whose traffic comes near what their plan includes.

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

/** Gives how many mails were ordered. Whatever ends it before its end, the next call does the rest, and nothing twice. */
export async function measureTraffic(
  db: Database,
  store: Pick<Analytics, 'query'>,
  now: Date,
  page = PAGE,
): Promise<number> {
  let told = 0;
  for (let after = 0; ; ) {
    const listed = await listMetered(db, after, page);
    const metered = listed.filter((each) => limitOf(each) !== null);
    const former = metered.flatMap((each) => formerHours(each, now));
    // The older period first: once the newer one is told of, it is told no more.
    told += await tellSome(db, store, former);
    told += await tellSome(
      db,
      store,
      metered.map((of) => ({ of, hours: trafficHours(of, now) })),
    );
    if (listed.length < page) return told;
    after = (listed.at(-1) as MeteredSubscription).domainId;
  }
}

interface Measured {
  readonly of: MeteredSubscription;
  readonly hours: TrafficHours;
}

/** Of the period that it was a day ago, unless it is still the same. */
function formerHours(of: MeteredSubscription, now: Date): Measured[] {
  const hours = trafficHours(of, new Date(now.getTime() - DAY_MS));
  return hours.start.getTime() === trafficHours(of, now).start.getTime() ? [] : [{ of, hours }];
}

async function tellSome(
  db: Database,
  store: Pick<Analytics, 'query'>,
  measured: readonly Measured[],
): Promise<number> {
  const octets = await loadOctets(
    { store, seconds: SECONDS },
    measured.map(({ of: { domainId }, hours: { from, until } }) => ({ domainId, from, until })),
  );
  let told = 0;
  for (const { of, hours } of measured) {
    const used = octets.get(of.domainId) ?? 0;
    const limitGb = limitOf(of);
    const percent = toldPercent(used, limitGb);
    if (percent === undefined || isTold(of, hours.start, percent)) continue;
    const mail = {
      domainId: of.domainId,
      periodStart: hours.start,
      percent,
      message: sentence(used, limitGb as number, hours),
    };
    if (await orderTrafficMail(db, mail)) told++;
  }
  return told;
}

/** Spares a call of the database, which judges it again. */
function isTold({ told }: MeteredSubscription, start: Date, percent: number): boolean {
  if (told === null || told.periodStart < start) return false;
  return told.periodStart > start || told.percent >= percent;
}

function limitOf({ plan, overrides }: MeteredSubscription): number | null {
  return entitlementsOf(plan, overrides).maxTrafficGb;
}

function sentence(octets: number, limitGb: number, { start, end }: TrafficHours): string {
  const day = (at: Date) => at.toISOString().slice(0, 10);
  const period = end === undefined ? `Since ${day(start)}` : `From ${day(start)} to ${day(end)}`;
  const share = limitGb === 0 ? '' : ` That is ${Math.floor((octets * 100) / (limitGb * GB))} %.`;
  return `${period} its plan includes ${limitGb} GB of traffic, of which it has used ${(octets / GB).toFixed(1)} GB.${share}`;
}

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

export function startCounts({ db, analytics, trouble }: WorkTools): Rounds | undefined {
  if (analytics === undefined) return undefined;
  return moveDnsCounts({
    db,
    store: analytics,
    onTrouble: unlessAway((error) => trouble('analytics', error)),
  });
}

/** Returns undefined if the traffic is not known, or if no mail is sent. */
export function startTraffic({ db, analytics, sendsMail, log, trouble }: WorkTools): Rounds | undefined {
  if (analytics === undefined || !sendsMail) return undefined;
  return tellTraffic({
    db,
    store: analytics,
    onTold: (mails) => log.info({ mails }, 'owners were notified of their traffic'),
    onTrouble: unlessAway((error) => trouble('analytics', error)),
  });
}
