// Deletes what is known of batches of edges when their lines would be too old to be taken again.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Longer than the 24 hours for which a line may wait at its edge. */
const RETENTION_HOURS = 26;
const BATCH_ROWS = 10_000;

export async function purgeEdgeBatches(db: Database): Promise<void> {
  for (let deleted = BATCH_ROWS; deleted === BATCH_ROWS; ) {
    const { numAffectedRows } = await sql`
      delete from edge_batches where (edge_id, batch) in (
        select edge_id, batch from edge_batches where at < clock_timestamp() - make_interval(hours => ${RETENTION_HOURS})
        order by at limit ${BATCH_ROWS} for update skip locked)`.execute(db);
    deleted = Number(numAffectedRows);
  }
}
