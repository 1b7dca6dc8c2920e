// Stores incidents, and notifies owners and webhooks of them.

import { sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import { orderEvent } from '../webhooks/sql.ts';
import { errorPct, type UptimeState } from './rules.ts';

interface NotedIncident {
  readonly id: number;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly requests: number;
  readonly failures: number;
  /** True if the owner was notified that it began. */
  readonly told: boolean;
}

/** Saves the state of a domain. An undefined `state` deletes it, because no outage is suspected. */
export async function saveUptimeState(
  trx: Database,
  domainId: number,
  minute: number,
  state: UptimeState,
): Promise<void> {
  if (state === undefined) {
    await sql`delete from uptime_states where domain_id = ${domainId}`.execute(trx);
    return;
  }
  await sql`
    insert into uptime_states (domain_id, judged, state) values (${domainId}, ${minute}, ${JSON.stringify(state)}::jsonb)
    on conflict (domain_id) do update set judged = excluded.judged, state = excluded.state`.execute(trx);
  if (state.kind === 'incident')
    await sql`
      update uptime_incidents set requests = ${state.requests}, failures = ${state.failures}
      where domain_id = ${domainId} and ended_at is null`.execute(trx);
}

interface Begun {
  readonly domainId: number;
  /** Minutes since 1970. */
  readonly startedAt: number;
  readonly requests: number;
  readonly failures: number;
}

/** Returns undefined if the domain already has an open incident. */
export async function beginIncident(
  trx: Database,
  { domainId, startedAt, requests, failures }: Begun,
): Promise<NotedIncident | undefined> {
  const { rows } = await sql<NotedIncident>`
    insert into uptime_incidents (domain_id, started_at, requests, failures)
    values (${domainId}, to_timestamp(${startedAt}::bigint * 60), ${requests}, ${failures})
    on conflict (domain_id) where ended_at is null do nothing
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

interface Ended {
  readonly domainId: number;
  readonly at: number;
  /** Undefined to keep the recorded numbers. */
  readonly counted?: { readonly requests: number; readonly failures: number };
}

export async function endIncident(
  trx: Database,
  { domainId, at, counted }: Ended,
): Promise<NotedIncident | undefined> {
  const { rows } = await sql<NotedIncident>`
    update uptime_incidents set ended_at = greatest(started_at, to_timestamp(${at}::bigint * 60)),
      requests = coalesce(${counted?.requests ?? null}, requests), failures = coalesce(${counted?.failures ?? null}, failures)
    where domain_id = ${domainId} and ended_at is null
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

const COLUMNS = sql.raw(`id, started_at as "startedAt", ended_at as "endedAt", requests, failures, told`);

/** Maximum number of outages per domain and hour that are announced, each with its end. */
const MOST_AN_HOUR = 3;

interface Outage {
  readonly domainId: number;
  readonly incident: NotedIncident;
  /** False if there is no mail server. Then no mail is ordered. */
  readonly sendsMail: boolean;
}

/** Requires the transaction that records the incident. Returns false if the hourly limit is reached. */
export async function notifyBegin(
  trx: Database,
  { domainId, incident, sendsMail }: Outage,
): Promise<boolean> {
  const { rows } = await sql<{ isLast: boolean }>`
    update uptime_incidents i set told = true from (
      select count(*) as told from uptime_incidents
      where domain_id = ${domainId} and told and noted_at > clock_timestamp() - interval '1 hour') lately
    where i.id = ${incident.id} and lately.told < ${MOST_AN_HOUR}
    returning lately.told + 1 = ${MOST_AN_HOUR} as "isLast"`.execute(trx);
  const [marked] = rows;
  if (marked === undefined) return false;
  const collapse = marked.isLast
    ? ' If there are more outages, we will not notify you of them for an hour.'
    : '';
  const message = `Since ${at(incident.startedAt)}, your origins have been failing: ${errorPct(incident)} % of the requests that edges forwarded to them failed.${collapse}`;
  await notify(trx, { domainId, incident, sendsMail }, message);
  return true;
}

export async function notifyEnd(trx: Database, outage: Outage): Promise<boolean> {
  const { incident } = outage;
  if (!incident.told || incident.endedAt === null) return false;
  const message = `Your origins respond again. From ${at(incident.startedAt)} to ${at(incident.endedAt)}, ${errorPct(incident)} % of the requests that edges forwarded to them failed.`;
  await notify(trx, outage, message);
  return true;
}

async function notify(
  trx: Database,
  { domainId, incident, sendsMail }: Outage,
  message: string,
): Promise<void> {
  const { id, startedAt, endedAt } = incident;
  const data = {
    incident: {
      id,
      started_at: startedAt.toISOString(),
      ...(endedAt !== null && { ended_at: endedAt.toISOString() }),
      error_pct: errorPct(incident),
    },
  };
  const event = endedAt === null ? 'outage.begun' : 'outage.ended';
  await orderEvent(trx, { domainId, event, data });
  if (sendsMail)
    await sql`
      select order_outage_mail(${domainId}::bigint, ${message}::text, ${endedAt !== null}::boolean)`.execute(
      trx,
    );
}

function at(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

interface StoredIncident {
  readonly id: number;
  readonly startedAt: Date;
  /** Null while the incident is open. */
  readonly endedAt: Date | null;
  readonly requests: number;
  readonly failures: number;
}

/** Maximum number of incidents listed. Most domains have far fewer in 30 days. */
const MOST = 1000;

/** Lists incidents that were open within the last `seconds`, newest first. */
export async function listIncidents(
  db: Database,
  domainId: number,
  seconds: number,
): Promise<StoredIncident[]> {
  const { rows } = await sql<StoredIncident>`
    select id, started_at as "startedAt", ended_at as "endedAt", requests, failures
    from uptime_incidents
    where domain_id = ${domainId}
      and (ended_at is null or ended_at > clock_timestamp() - make_interval(secs => ${seconds}))
    order by started_at desc limit ${MOST}`.execute(db);
  return rows;
}

/** True if a proxied record of the domain has `monitor`. */
export async function isMonitored(db: Database, domainId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from records where domain_id = ${domainId} and proxied and monitor) as found`.execute(
    db,
  );
  return rows[0]?.found === true;
}

/** Returns the end of the last minute evaluated, or undefined if there is none yet. */
export async function loadJudgedUntil(db: Database): Promise<Date | undefined> {
  const { rows } = await sql<{ until: Date | null }>`
    select to_timestamp((judged + 1) * 60) as until from uptime_round`.execute(db);
  return rows[0]?.until ?? undefined;
}
