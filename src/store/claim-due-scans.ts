// Takes scans that are due: those of new domains, and those whose job or worker was lost. A claim takes a scan from the
// worker that had it, and moves its time by a lease: what is lost on the way to its next worker comes up again.

import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 300;

export async function claimDueScans(db: Database, limit: number): Promise<{ scanId: number }[]> {
  const { rows } = await sql<{ scanId: number }>`
    update scans set run = null, due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(array(
      select id from scans where due_at <= clock_timestamp() order by due_at limit ${limit}
      for update skip locked))
    returning id as "scanId"`.execute(db);
  return rows;
}
