// Takes domains whose own zone is due to be looked at, the longest due first. A claim moves the due time by a lease, so
// that one whose worker was lost is due again.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 120;

export async function claimDueChildChecks(db: Database, limit: number): Promise<{ domainId: number }[]> {
  const { rows } = await sql<{ domainId: number }>`
    update child_checks set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where domain_id = any(array(
      select domain_id from child_checks where due_at <= now() order by due_at limit ${limit}
      for no key update skip locked))
    returning domain_id as "domainId"`.execute(db);
  return rows;
}
