// Which domains are monitored, by which rules, and what is suspected of them.

import { sql } from 'kysely';
import type { UptimeRules, UptimeState } from '../../edge/uptime/judge-minute.ts';
import { recordNamesFor } from '../../edge/uptime/monitored-hosts.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

export interface WatchedDomain {
  readonly id: number;
  /** Without the final dot. */
  readonly name: string;
  /** It is there, and a proxied record of it has `monitor`. */
  readonly isMonitored: boolean;
  readonly outageAlerts: boolean;
  readonly rules: UptimeRules;
  readonly state: UptimeState;
  /** The last minute that is judged of it, while something is suspected. */
  readonly judged: number | null;
}

/** Domains of which something is suspected, by id. */
export async function loadSuspects(db: Database, after: number, limit: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select domain_id as id from uptime_states where domain_id > ${after} order by domain_id limit ${limit}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Within a transaction; nobody else judges them meanwhile. */
export async function loadWatched(trx: Database, ids: readonly number[]): Promise<WatchedDomain[]> {
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
  /** Of the domain, without the final dot. */
  readonly apex: string;
  readonly host: string;
}

/** Of each domain: the proxied names that these hosts may belong to, and whether they have `monitor`. */
export async function loadMonitored(
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
