// Measures how late the checks of delegations are.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Returns the seconds since the earliest planned check should have run, or 0 if no check is late. Reads one row. */
export async function loadCheckDelay(db: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    select greatest(0, extract(epoch from clock_timestamp() - next_at))::float8 as seconds
    from domain_checks where not deleted order by coalesce(next_at, 'infinity'), domain_id limit 1`.execute(
    db,
  );
  return rows[0]?.seconds ?? 0;
}
