// Which version of a zone each node serves, by the transactions that it has seen: a node with a later change of any zone may
// lack an earlier one of this zone, and changes of keys wait for the last node.

import { sql } from 'kysely';
import type { NodePosition } from '../../checks/dnssec/node-positions.ts';
import { EPOCH_SQL } from '../feed/change-feed.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';

interface ServingNow {
  readonly at: Date;
  /** The history of this database, as the feed knows it. */
  readonly epoch: string;
  readonly nodes: readonly NodePosition[];
}

interface ServingRow {
  readonly at: Date;
  readonly epoch: string;
  readonly id: string | null;
  readonly version: number | null;
  readonly heardAt: Date | null;
  readonly isGone: boolean | null;
}

/** Of a domain without a zone nodes serve nothing, and lack nothing. */
const NO_ZONE = Number.MAX_SAFE_INTEGER;

/** Asks the primary. `zoneId` null: there is no zone. */
export async function loadServing(db: Database, zoneId: number | null): Promise<ServingNow> {
  const { rows } = await sql<ServingRow>`
    with current as materialized (
      select ${sql.raw(EPOCH_SQL)} as epoch, purged_xid, pg_snapshot_xmax(pg_current_snapshot()) as xmax from feed)
    select ${TIME} as at, current.epoch, n.name as id, n.seen_at as "heardAt",
      n.left_at is not null or coalesce(n.forgotten_at >= n.seen_at, false) as "isGone",
      case when n.loaded and n.snapshot is not null and n.epoch = current.epoch then ${versionOf(zoneId)} end as version
    from current left join nodes n on true
    order by n.name`.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error('the feed has no row');
  return {
    at: first.at,
    epoch: first.epoch,
    nodes: rows.flatMap(({ id, version, heardAt, isGone }) =>
      id === null || heardAt === null
        ? []
        : [{ id, version, heardAt: heardAt.getTime(), isGone: isGone === true }],
    ),
  };
}

/**
 * The newest change of the zone that the node has seen. Changes are purged: a node that has seen all that were has what was
 * before those that are left. A transaction of the future was restored from another cluster: it was there before any node
 * loaded. A node that holds removals back serves a zone that is gone.
 */
function versionOf(zoneId: number | null) {
  if (zoneId === null) return sql`${NO_ZONE}::bigint`;
  return sql`(
    select case when ${zoneId} = any(n.unserved) or n.unserved is null then null
      when z.deleted_at is not null and n.held_since is not null then null
      else coalesce(
        (select c.id from changes c
          where c.zone_id = ${zoneId} and (c.xid >= current.xmax or pg_visible_in_snapshot(c.xid, n.snapshot))
          order by c.id desc limit 1),
        case when pg_snapshot_xmin(n.snapshot) > current.purged_xid or current.purged_xid >= current.xmax then
          coalesce((select min(c.id) - 1 from changes c where c.zone_id = ${zoneId}), z.version) end) end
    from zones z where z.id = ${zoneId})`;
}
