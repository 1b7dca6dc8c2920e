// One look at the traffic of all domains: whoever has used 80 or 100 % of what the plan includes is told by mail. What was missed while
// nobody looked is told later, of the period before too while that is a day ago.

import type { Analytics } from '../../src/analytics/open-analytics.ts';
import { loadOctets } from '../../src/analytics/requests/load-octets.ts';
import { type TrafficHours, trafficHours } from '../../src/analytics/requests/traffic-hours.ts';
import { entitlementsOf } from '../../src/billing/entitlements.ts';
import { GB, toldPercent } from '../../src/billing/quota.ts';
import { listMetered, type MeteredSubscription } from '../../src/store/accounts/metered-subscriptions.ts';
import { orderTrafficMail } from '../../src/store/people/traffic-mails.ts';
import type { Database } from '../../src/store/postgres/database.ts';

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
