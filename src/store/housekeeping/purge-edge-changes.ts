// Deletes from the feed of edges the rows of names that no domain has had for a while: customers make and delete domains, and
// each leaves a row. `edge_purged_xid` tells edges that come with an older cursor, which are told everything then.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Names that one statement looks at. */
const BATCH_ROWS = 10_000;

/** By name, in small transactions. Rows that a writer has locked are left for the next time. */
export async function purgeEdgeChanges(db: Database, retentionDays: number): Promise<number> {
  let purged = 0;
  for (let after: string | null = ''; after !== null; ) {
    const batch = await purgeBehind(db, retentionDays, after);
    purged += batch.purged;
    after = batch.last;
  }
  return purged;
}

/**
 * A row whose transaction may still be in flight for somebody stays: a cursor of now must not be too old already. The newest row
 * stays, since cursors of edges that have seen everything name it.
 */
async function purgeBehind(
  db: Database,
  retentionDays: number,
  after: string,
): Promise<{ purged: number; last: string | null }> {
  const { rows } = await sql<{ purged: number; last: string | null }>`
    with page as materialized (
      select name from edge_changes where name > ${after} collate "C" order by name limit ${BATCH_ROWS}),
    former as materialized (
      select e.name from edge_changes e
      where e.name in (select p.name from page p where not exists (select from domains d where d.name = p.name))
        and e.at < clock_timestamp() - make_interval(days => ${retentionDays})
        and e.xid < pg_snapshot_xmin(pg_current_snapshot()) and e.xid < (select xid from edge_changes order by xid desc limit 1)
      for update of e skip locked),
    purged as (
      delete from edge_changes e using former where e.name = former.name returning e.xid),
    newest as (select xid from purged order by xid desc limit 1),
    marked as (
      update feed set edge_purged_xid = newest.xid from newest
      where feed.edge_purged_xid < newest.xid or feed.edge_purged_xid >= pg_snapshot_xmax(pg_current_snapshot()))
    select (select count(*)::integer from purged) as purged,
      case when count(*) = ${BATCH_ROWS} then max(name) end as last from page`.execute(db);
  return rows[0] ?? { purged: 0, last: null };
}
