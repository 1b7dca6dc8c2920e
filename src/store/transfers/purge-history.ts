// Deletes the history of zones that is too old, or larger than the zone itself: transferring the whole zone is then
// cheaper.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const BATCH_VERSIONS = 1000;
/** History of this many records is kept for a zone of any size. */
const LEAST_ROWS = 1000;

/** Deletes versions older than the retention, those that were too large to be kept, and the oldest of large histories. */
export async function purgeHistory(db: Database, retentionDays: number): Promise<void> {
  const old = sql`select zone_id, version from zone_history
    where at < clock_timestamp() - make_interval(days => ${retentionDays}) order by at limit ${BATCH_VERSIONS}`;
  const unusable = sql`select zone_id, version from zone_history
    where version_before is null and rows > 0 limit ${BATCH_VERSIONS}`;
  const large = sql`
    select zone_id, version from (
      select h.zone_id, h.version, sum(h.rows) over (partition by h.zone_id order by h.version desc) as newer, z.records
      from zone_history h join zones z on z.id = h.zone_id
      where h.zone_id in (
        select h.zone_id from zone_history h join zones z on z.id = h.zone_id
        group by h.zone_id, z.records having sum(h.rows) > greatest(${LEAST_ROWS}, z.records))) h
    where newer > greatest(${LEAST_ROWS}, records) limit ${BATCH_VERSIONS}`;
  for (const versions of [old, unusable, large])
    for (let deleted = BATCH_VERSIONS; deleted === BATCH_VERSIONS; ) {
      const { rows } = await sql<{ versions: number }>`
        with gone as materialized (${versions}),
        history as (delete from zone_history h using gone g where h.zone_id = g.zone_id and h.version = g.version),
        differences as (
          delete from zone_differences d using gone g where d.zone_id = g.zone_id and d.version = g.version)
        select count(*)::integer as versions from gone`.execute(db);
      deleted = rows[0]?.versions ?? 0;
    }
}
