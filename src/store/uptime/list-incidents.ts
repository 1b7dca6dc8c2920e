// The incidents of a domain, and how far it is judged.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface StoredIncident {
  readonly id: number;
  readonly startedAt: Date;
  /** Null: it goes on. */
  readonly endedAt: Date | null;
  readonly requests: number;
  readonly failures: number;
}

/** The newest ones. No domain has more in 30 days, unless its window is a few minutes and it flaps all the time. */
const MOST = 1000;

/** Those that went on within so many seconds, the newest first. */
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

/** Until when minutes are judged; undefined: none is yet. */
export async function loadJudgedUntil(db: Database): Promise<Date | undefined> {
  const { rows } = await sql<{ until: Date | null }>`
    select to_timestamp((judged + 1) * 60) as until from uptime_round`.execute(db);
  return rows[0]?.until ?? undefined;
}
