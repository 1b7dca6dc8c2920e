// Takes targets of ANAME records whose look-up is due, the longest due first. A claim moves the due time by a lease, so
// that a target whose worker was lost is due again.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const LEASE_SECONDS = 120;

export async function claimDueTargets(db: Database, limit: number): Promise<{ targetId: number }[]> {
  const { rows } = await sql<{ targetId: number }>`
    update aname_targets set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(array(
      select id from aname_targets where due_at <= now() order by due_at limit ${limit}
      for no key update skip locked))
    returning id as "targetId"`.execute(db);
  return rows;
}
