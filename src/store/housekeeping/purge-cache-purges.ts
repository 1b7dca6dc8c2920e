// Deletes purges of caches when nothing can be cached any more that is older than they are.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Edges keep nothing for more than seven days (`cache_l2_ttl_days`). */
const RETENTION_DAYS = 8;
const BATCH_ROWS = 1000;

export async function purgeCachePurges(db: Database): Promise<void> {
  for (let deleted = BATCH_ROWS; deleted === BATCH_ROWS; ) {
    const { numAffectedRows } = await sql`
      delete from cache_purges where id in (
        select id from cache_purges where at < clock_timestamp() - make_interval(days => ${RETENTION_DAYS})
        order by at limit ${BATCH_ROWS} for update skip locked)`.execute(db);
    deleted = Number(numAffectedRows);
  }
}
