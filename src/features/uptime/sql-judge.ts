// Evaluates one minute of domains in one transaction.

import { sql } from 'kysely';
import { isMonitored, recordNamesFor } from '../../edge/monitored-hosts.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { judgeMinute, type UptimeRules, type UptimeState } from './rules.ts';
import { beginIncident, endIncident, notifyBegin, notifyEnd, saveUptimeState } from './sql.ts';

export interface HostMinute {
  readonly domainId: number;
  /** In lowercase. */
  readonly host: string;
  readonly requests: number;
  readonly failures: number;
}

interface JudgedMinute {
  /** Number of the minute since 1970. */
  readonly minute: number;
  readonly domainIds: readonly number[];
  /** Requests by host of these domains. */
  readonly hosts: readonly HostMinute[];
  /** False if the minute is too old to notify anyone of it. */
  readonly tells: boolean;
  readonly sendsMail: boolean;
}

export interface Outages {
  readonly begun: number;
  readonly ended: number;
}

export async function judgeDomains(db: Database, judged: JudgedMinute): Promise<Outages> {
  return await inTransaction(db, async (trx) => {
    const { minute, domainIds, hosts } = judged;
    const watched = await loadWatched(trx, domainIds);
    const apexes = new Map(watched.filter((domain) => domain.isMonitored).map(({ id, name }) => [id, name]));
    const seen = hosts.flatMap((each) => {
      const apex = apexes.get(each.domainId);
      return apex === undefined ? [] : [{ ...each, apex }];
    });
    const monitored = await loadMonitored(trx, seen);
    const counted = new Map<number, { requests: number; failures: number }>();
    for (const { domainId, apex, host, requests, failures } of seen) {
      if (!isMonitored(host, apex, monitored.get(domainId) ?? new Map())) continue;
      const sum = counted.get(domainId) ?? { requests: 0, failures: 0 };
      counted.set(domainId, { requests: sum.requests + requests, failures: sum.failures + failures });
    }
    let begun = 0;
    let ended = 0;
    for (const domain of watched) {
      if (domain.judged !== null && domain.judged >= minute) continue; // evaluated by a worker that was then lost
      const outcome = domain.isMonitored
        ? await judgeOne(trx, domain, { minute, ...(counted.get(domain.id) ?? NOTHING) }, judged)
        : await forget(trx, domain, minute);
      if (outcome === 'begun') begun++;
      if (outcome === 'ended') ended++;
    }
    return { begun, ended };
  });
}

const NOTHING = { requests: 0, failures: 0 };

async function judgeOne(
  trx: Database,
  { id: domainId, rules, state, outageAlerts }: WatchedDomain,
  minute: { readonly minute: number; readonly requests: number; readonly failures: number },
  { tells, sendsMail }: JudgedMinute,
): Promise<'begun' | 'ended' | undefined> {
  const next = judgeMinute(state, minute, rules);
  if (next.state === undefined && state === undefined) return undefined;
  if (next.state === state) return undefined;
  const begun =
    next.began === true && next.state?.kind === 'incident'
      ? await beginIncident(trx, { domainId, ...next.state })
      : undefined;
  const ended =
    next.ended === undefined
      ? undefined
      : await endIncident(trx, { domainId, at: next.ended.at, counted: next.ended });
  await saveUptimeState(trx, domainId, minute.minute, next.state satisfies UptimeState);
  const notice = { domainId, sendsMail };
  if (begun !== undefined && tells && outageAlerts) await notifyBegin(trx, { ...notice, incident: begun });
  if (ended !== undefined && outageAlerts) await notifyEnd(trx, { ...notice, incident: ended });
  return begun !== undefined ? 'begun' : ended !== undefined ? 'ended' : undefined;
}

/** Ends the open incident of a domain that is no longer monitored, without a notification. */
async function forget(
  trx: Database,
  { id: domainId, state }: WatchedDomain,
  minute: number,
): Promise<'ended' | undefined> {
  if (state === undefined) return undefined;
  const ended = await endIncident(trx, { domainId, at: minute });
  await saveUptimeState(trx, domainId, minute, undefined);
  return ended === undefined ? undefined : 'ended';
}

interface WatchedDomain {
  readonly id: number;
  /** Without the final dot. */
  readonly name: string;
  /** The domain exists, and a proxied record of it has `monitor`. */
  readonly isMonitored: boolean;
  readonly outageAlerts: boolean;
  readonly rules: UptimeRules;
  readonly state: UptimeState;
  /** The last minute evaluated. Null if no outage is suspected. */
  readonly judged: number | null;
}

/** Returns the ids of domains with a suspected or open outage, in ascending order. */
export async function loadSuspects(db: Database, after: number, limit: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select domain_id as id from uptime_states where domain_id > ${after} order by domain_id limit ${limit}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Loads the domains, and locks their states for the rest of the transaction. */
async function loadWatched(trx: Database, ids: readonly number[]): Promise<WatchedDomain[]> {
  await sql`
    select from uptime_states where domain_id = any(${[...ids]}::bigint[]) order by domain_id for update`.execute(
    trx,
  );
  const { rows } = await sql<
    UptimeRules & Omit<WatchedDomain, 'rules' | 'state'> & { state: UptimeState | null }
  >`
    select d.id, d.name, d.outage_alerts as "outageAlerts", s.state, s.judged,
      d.deleted_at is null
        and exists (select from records r where r.domain_id = d.id and r.proxied and r.monitor) as "isMonitored",
      d.uptime_threshold_pct as "thresholdPct", d.uptime_window_min as "windowMin",
      d.uptime_min_requests as "minRequests", d.uptime_min_active_min as "minActiveMin",
      d.uptime_recover_min as "recoverMin"
    from domains d left join uptime_states s on s.domain_id = d.id
    where d.id = any(${[...ids]}::bigint[])`.execute(trx);
  return rows.map(({ id, name, outageAlerts, isMonitored, state, judged, ...rules }) => ({
    id,
    name: printWithoutDot(decodeNameColumn(name)),
    isMonitored,
    outageAlerts,
    rules,
    state: state ?? undefined,
    judged,
  }));
}

interface SeenHost {
  readonly domainId: number;
  /** Apex of the domain, without the final dot. */
  readonly apex: string;
  readonly host: string;
}

/** Returns by domain the proxied names that these hosts may belong to, and whether they have `monitor`. */
async function loadMonitored(
  db: Database,
  hosts: readonly SeenHost[],
): Promise<Map<number, Map<string, boolean>>> {
  const wanted = hosts.flatMap(({ domainId, apex, host }) =>
    recordNamesFor(host, apex).map((name) => ({ domainId, name: `${name}.` })),
  );
  const { rows } = await sql<{ domainId: number; name: string; monitor: boolean }>`
    select r.domain_id as "domainId", r.name, bool_or(r.monitor) as monitor
    from records r join (
      select distinct domain_id, name from unnest(
        ${wanted.map(({ domainId }) => domainId)}::bigint[], ${wanted.map(({ name }) => name)}::text[]) w (domain_id, name)
    ) w on w.domain_id = r.domain_id and w.name = r.name
    where r.proxied group by r.domain_id, r.name`.execute(db);
  const found = new Map<number, Map<string, boolean>>();
  for (const { domainId, name, monitor } of rows) {
    const names = found.get(domainId) ?? new Map<string, boolean>();
    found.set(domainId, names.set(name.slice(0, -1), monitor));
  }
  return found;
}

interface UptimeRound {
  /** Minute to evaluate, counted since 1970. */
  readonly minute: number;
  /** Number of minutes since it ended. */
  readonly age: number;
  /** The last minute that may be evaluated now. */
  readonly last: number;
}

/** If a worker is lost, the others wait this long. */
const LEASE_SECONDS = 60;
/** A minute is evaluated this long after its end, because edges may report it until then. */
const WAIT_MINUTES = 2;
/** Older minutes are skipped after a long interruption. */
const MOST_MINUTES = 24 * 60;

/** Returns undefined if no minute is due, or if another worker has the lease. */
export async function takeUptimeRound(db: Database): Promise<UptimeRound | undefined> {
  const { rows } = await sql<{ judged: number | null; now: number }>`
    update uptime_round set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where lease_until < clock_timestamp()
      and (judged is null or judged + 1 + 1 + ${WAIT_MINUTES} <= floor(extract(epoch from clock_timestamp()) / 60))
    returning judged, floor(extract(epoch from clock_timestamp()) / 60)::bigint as now`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const last = row.now - 1 - WAIT_MINUTES;
  const minute = row.judged === null ? last : Math.max(row.judged + 1, row.now - MOST_MINUTES);
  return { minute, age: row.now - minute - 1, last };
}

/** Extends the lease. */
export async function renewUptimeLease(db: Database): Promise<void> {
  await sql`
    update uptime_round set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`.execute(
    db,
  );
}

/** Releases the lease. `judged` is the minute that was evaluated, or undefined if it is left for later. */
export async function endUptimeRound(db: Database, judged: number | undefined): Promise<void> {
  await sql`
    update uptime_round set lease_until = '-infinity', judged = greatest(judged, ${judged ?? null}::bigint)`.execute(
    db,
  );
}
