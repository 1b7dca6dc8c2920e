// Determines whether every node has a change. A node is expected until it signs off or has not been seen for a day.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { EPOCH_SQL } from './change-feed.ts';

export interface InSync {
  /** True if every expected node serves the change. False if there is no node. */
  readonly inSync: boolean;
  readonly nodes: { readonly seen: number; readonly live: number };
}

interface SyncRow {
  id: number;
  seen: number;
  live: number;
}

/**
 * Queries the primary for changes by id. Unknown ids have no entry. A node that holds removals back lacks those, even
 * if it has read them, and a node that does not serve a zone's newest content lacks all its changes. A transaction ID
 * from the future was restored from another cluster, before any node loaded.
 */
export async function inSync(db: Database, changeIds: readonly number[]): Promise<Map<number, InSync>> {
  const { rows } = await sql<SyncRow>`
    with current as materialized (
      select ${sql.raw(EPOCH_SQL)} as epoch, pg_snapshot_xmax(pg_current_snapshot()) as xmax from feed),
    node as materialized (
      select n.snapshot, n.held_since, n.unserved, n.loaded and n.snapshot is not null and n.epoch = current.epoch as current
      from nodes n, current
      where n.left_at is null and n.seen_at > clock_timestamp() - interval '24 hours')
    select c.id, count(n.*)::integer as live,
      (count(*) filter (where n.current
        and (c.xid >= current.xmax or pg_visible_in_snapshot(c.xid, n.snapshot))
        and not coalesce(z.id = any(n.unserved), n.unserved is null)
        and (n.held_since is null or c.at < n.held_since - interval '1 minute'
          or c.operation <> 'delete' and coalesce(c.status_to, '') not in ('disabled', 'banned', 'unverified'))
      ))::integer as seen
    from domain_changes c join domains d on d.id = c.domain_id left join zones z on z.name = d.name
      cross join current left join node n on true
    where c.id = any(${changeIds}::bigint[])
    group by c.id`.execute(db);
  return new Map(
    rows.map(({ id, seen, live }) => [id, { inSync: live > 0 && seen === live, nodes: { seen, live } }]),
  );
}
