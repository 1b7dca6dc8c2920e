// Deletes what the feed no longer needs: changes, tombstones and deleted zones older than the retention. A domain that is
// not served keeps its zone's row. `purged_xid` tells nodes that come with an older cursor.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const BATCH_ROWS = 10_000;

/** Purges in small transactions, so that no writer and no vacuum waits for it. */
export async function purgeFeed(db: Database, retentionDays: number): Promise<{ changes: number }> {
  const { rows } = await sql<{ id: number | null }>`
    select max(id) as id from changes
    where at < clock_timestamp() - make_interval(days => ${retentionDays})`.execute(db);
  const lastId = rows[0]?.id ?? null;
  if (lastId === null) return { changes: 0 };
  let changes = 0;
  for (let purged = BATCH_ROWS; purged === BATCH_ROWS; changes += purged) {
    purged = await purgeChanges(db, retentionDays);
  }
  for (let purged = BATCH_ROWS; purged === BATCH_ROWS; ) purged = await purgeTombstones(db, lastId);
  await sql`
    delete from zones where id = any(array(
      select id from zones
      where deleted_at < clock_timestamp() - make_interval(days => ${retentionDays}) and kind = 'operator'
      for update skip locked))`.execute(db);
  return { changes };
}

async function purgeChanges(db: Database, retentionDays: number): Promise<number> {
  const { rows } = await sql<{ purged: number }>`
    with purged as (
      delete from changes where id in (
        select id from changes where at < clock_timestamp() - make_interval(days => ${retentionDays})
        order by at limit ${BATCH_ROWS})
      returning xid),
    last as (select xid from purged order by xid desc limit 1),
    marked as (
      update feed set purged_xid = last.xid from last where feed.purged_xid < last.xid)
    select count(*) as purged from purged`.execute(db);
  return rows[0]?.purged ?? 0;
}

/**
 * Purges tombstones. A zone that loses some records it: a node with an older version of the zone loads it whole. Zones
 * that are being written are skipped: waiting for them while tombstones are locked could deadlock with a writer that
 * revives one.
 */
async function purgeTombstones(db: Database, lastId: number): Promise<number> {
  const { rows } = await sql<{ purged: number }>`
    with old as materialized (
      select ctid, zone_id from zone_records where removed and version <= ${lastId}
      order by version limit ${BATCH_ROWS}),
    locked as materialized (
      select id from zones where id in (select zone_id from old) for update skip locked),
    purged as (
      delete from zone_records r using old join locked on locked.id = old.zone_id
      where r.ctid = old.ctid and r.removed
      returning r.zone_id, r.version),
    zone as (select zone_id, max(version) as version from purged group by zone_id),
    marked as (
      update zones z set complete_since = greatest(z.complete_since, zone.version)
      from zone where z.id = zone.zone_id)
    select count(*) as purged from purged`.execute(db);
  return rows[0]?.purged ?? 0;
}
