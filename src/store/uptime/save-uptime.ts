// Keeps what is suspected of a domain, and the incidents that follow.

import { sql } from 'kysely';
import type { UptimeState } from '../../edge/uptime/judge-minute.ts';
import type { Database } from '../postgres/database.ts';

export interface NotedIncident {
  readonly id: number;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly requests: number;
  readonly failures: number;
  /** The owner was told that it began. */
  readonly told: boolean;
}

/** Undefined: nothing is suspected any more. */
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

/** Undefined: there is one that goes on already. */
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
  /** Undefined: as they were noted. */
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
