// Notes domains whose delegation was checked, so that their own zone is looked at: the first time, when the parent shows
// another set, and when somebody asks for it. A set that changes at every check is no way to more packets.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export interface NotedDomain {
  readonly domainId: number;
  /** Somebody asked for the check. */
  readonly isByHand: boolean;
}

/** The least time between two checks of one domain's zone that nobody asked for. */
const LEAST_SECONDS = 600;

/** Most domains change nothing, and their rows are not even locked. Domains without a delegation, or whose zone is due already, are left as they are. */
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
