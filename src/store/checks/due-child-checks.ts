// Schedules and claims the checks of delegated zones.

import { sql } from 'kysely';
import { foldCase, type Name } from '../../dns/name.ts';
import { allOurNameservers, decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 120;

/**
 * Claims domains whose delegated zone is due for a check, longest due first. A claim extends the due time by a lease,
 * so that the domain becomes due again if its worker fails.
 */
export async function claimDueChildChecks(db: Database, limit: number): Promise<{ domainId: number }[]> {
  const { rows } = await sql<{ domainId: number }>`
    update child_checks set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where domain_id = any(array(
      select domain_id from child_checks where due_at <= now() order by due_at limit ${limit}
      for no key update skip locked))
    returning domain_id as "domainId"`.execute(db);
  return rows;
}

interface ChildDomain {
  readonly name: Name;
  /** True if the domain is active. Active domains are checked less often. */
  readonly isActive: boolean;
  /** The delegation for which the check is due, in stored form. */
  readonly wantedNs: readonly string[];
  readonly checkedAt: number | undefined;
  /** All nameservers of the fleet including the pool, in lower case. */
  readonly ownServers: readonly Name[];
}

/** Returns undefined if the domain is deleted or not delegated. */
export async function loadChildDomain(db: Database, domainId: number): Promise<ChildDomain | undefined> {
  const { rows } = await sql<ChildRow>`
    select d.name, d.status = 'active' as "isActive", k.wanted_ns as "wantedNs", k.checked_at as "checkedAt",
      ${SETTINGS_TEXT} as settings
    from domains d join child_checks k on k.domain_id = d.id join domain_checks c on c.domain_id = d.id
    where d.id = ${domainId} and d.deleted_at is null and d.zone_id is not null and d.dns_mode = 'managed'
      and d.status in ('pending', 'active', 'moved') and cardinality(c.current_ns) > 0`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    name: decodeNameColumn(row.name),
    isActive: row.isActive,
    wantedNs: row.wantedNs,
    checkedAt: row.checkedAt?.getTime(),
    ownServers: allOurNameservers(decodePublishSettings(row.settings)).map(foldCase),
  };
}

interface ChildRow {
  readonly name: string;
  readonly isActive: boolean;
  readonly wantedNs: readonly string[];
  readonly checkedAt: Date | null;
  readonly settings: string | null;
}

export interface NotedDomain {
  readonly domainId: number;
  /** True if a user requested the check. */
  readonly isByHand: boolean;
}

/** Minimum time between two automatic checks of a domain's zone. */
const LEAST_SECONDS = 600;

/**
 * Schedules checks of the zones of domains whose delegation was checked: the first time, if the parent shows another
 * set, and on request. `LEAST_SECONDS` limits checks if the set keeps changing. Most domains do not change, so their
 * rows are not locked. Skips domains without a delegation, and those whose zone is already due.
 */
export async function noteCheckedDomains(db: Database, noted: readonly NotedDomain[]): Promise<void> {
  if (noted.length === 0) return;
  const rows = JSON.stringify(noted.map(({ domainId, isByHand }) => ({ id: domainId, by_hand: isByHand })));
  await sql`
    with noted as materialized (
      select id, bool_or(by_hand) as by_hand
      from jsonb_to_recordset(${rows}::jsonb) as n(id bigint, by_hand boolean) group by id)
    insert into child_checks as k (domain_id, due_at, wanted_ns)
    select c.domain_id, clock_timestamp(), c.current_ns
    from noted n join domain_checks c on c.domain_id = n.id join domains d on d.id = n.id
      left join child_checks before on before.domain_id = n.id
    where (before.domain_id is null or before.due_at is null or before.wanted_ns <> c.current_ns or n.by_hand)
      and cardinality(c.current_ns) > 0 and d.deleted_at is null and d.zone_id is not null
      and d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved')
    order by c.domain_id
    on conflict (domain_id) do update set wanted_ns = excluded.wanted_ns,
      due_at = least(k.due_at, case when (select n.by_hand from noted n where n.id = k.domain_id) then excluded.due_at
        else greatest(excluded.due_at, k.checked_at + make_interval(secs => ${LEAST_SECONDS})) end)
    where k.due_at is null or k.wanted_ns <> excluded.wanted_ns
      or (select n.by_hand from noted n where n.id = k.domain_id)`.execute(db);
}
