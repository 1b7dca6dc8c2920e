// Reading the feed of what edges are told: a row for each domain name, with its newest version. As in the feed of zones
// (store/feed/change-feed.ts) a place in it is a snapshot, so that a change that commits late is never passed over. Rows are
// replaced: who was away finds each change once, in its newest version. Only rows of names that no domain has are deleted in the
// end (store/housekeeping/purge-edge-changes.ts); who was away longer is told everything.

import { sql } from 'kysely';
import { COMPLETE_SQL, EPOCH_SQL } from '../feed/change-feed.ts';
import type { Database } from '../postgres/database.ts';
import type { FeedPlace, SeenName } from './edge-cursor.ts';

export interface EdgeFeedRead {
  /**
   * `changes`: apply them. `start`: there was no place. `another-epoch`, and `expired` (rows that the place has not seen are
   * deleted): tell everything anew. `behind`: a standby has not
   * reached the place yet, read again. `incomplete`: the database is being restored, read again.
   */
  readonly kind: 'changes' | 'start' | 'another-epoch' | 'expired' | 'behind' | 'incomplete';
  /** In the order of transactions and names. */
  readonly changes: readonly SeenName[];
  /** The place to keep when all changes are told, also those of the next reads while there are more. */
  readonly place: FeedPlace;
  readonly more: boolean;
}

/** Of `feed`. With the table's number: a table that was made anew has another history. */
export const EDGE_EPOCH_SQL = sql.raw(`md5(${EPOCH_SQL} || '/' || 'edge_changes'::regclass::oid::text)`);

const MAX_XID = (1n << 63n) - 1n;

/** Within a transaction of one snapshot. Begins behind `after`, of an earlier read from the same place. */
export async function readEdgeFeed(
  trx: Database,
  place: FeedPlace | undefined,
  limit: number,
  after?: SeenName,
): Promise<EdgeFeedRead> {
  const from = (place?.from ?? MAX_XID).toString();
  const behind = sql`e.xid < pg_snapshot_xmax(head.snapshot)
    and (e.xid, e.name) > (${(after?.xid ?? 0n).toString()}::xid8, ${after?.name ?? ''}::text collate "C")
    order by e.xid, e.name limit ${limit}`;
  const { rows } = await sql<StoredRead>`
    with head as materialized (
      select pg_current_snapshot() as snapshot, pg_is_in_recovery() as standby,
        ${EDGE_EPOCH_SQL} as epoch, ${sql.raw(COMPLETE_SQL)} as complete, edge_purged_xid
      from feed limit 1),
    unseen as (
      (select e.name, e.version, e.xid from head, edge_changes e where e.xid >= ${from}::xid8 and ${behind})
      union all
      (select e.name, e.version, e.xid from head, edge_changes e
       where e.xid = any(${(place?.inFlight ?? []).map(String)}::xid8[]) and e.xid < ${from}::xid8 and ${behind})
      order by xid, name limit ${limit})
    select head.snapshot::text as snapshot, head.standby, head.epoch, head.complete,
      head.edge_purged_xid::text as purged,
      (select json_build_array(version, xid::text) from edge_changes where name = ${place?.newest?.name ?? ''}) as seen,
      coalesce((select json_agg(json_build_array(name, version, xid::text) order by xid, name) from unseen), '[]') as unseen,
      (select json_build_array(name, version, xid::text) from edge_changes
       where xid < pg_snapshot_xmax(head.snapshot) order by xid desc limit 1) as newest
    from head`.execute(trx);
  const row = rows[0];
  if (row === undefined) return INCOMPLETE; // no row in `feed`
  const [xmin, xmax, running] = row.snapshot.split(':') as [string, string, string];
  const { standby, epoch } = row;
  const head = {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    standby,
    epoch,
    complete: row.complete,
    purged: BigInt(row.purged),
  };
  const kind = judge(place, head, row.seen);
  const changes = kind === 'changes' ? row.unseen.map(seenOf) : [];
  const known = kind === 'changes' || kind === 'behind' ? place?.newest : row.newest && seenOf(row.newest);
  return {
    kind,
    changes,
    more: changes.length === limit,
    place: {
      epoch,
      from: standby ? head.xmin : head.xmax,
      inFlight: standby || running === '' ? [] : running.split(',').map(BigInt),
      newest: newestOf(changes) ?? known ?? undefined,
    },
  };
}

type StoredSeen = readonly [name: string, version: number, xid: string];

interface StoredRead {
  readonly snapshot: string;
  readonly standby: boolean;
  readonly epoch: string;
  readonly complete: boolean;
  readonly purged: string;
  readonly seen: readonly [version: number, xid: string] | null;
  readonly unseen: readonly StoredSeen[];
  readonly newest: StoredSeen | null;
}

const INCOMPLETE: EdgeFeedRead = {
  kind: 'incomplete',
  changes: [],
  more: false,
  place: { epoch: '', from: 0n, inFlight: [], newest: undefined },
};

function seenOf([name, version, xid]: StoredSeen): SeenName {
  return { name, version, xid: BigInt(xid) };
}

function newestOf(changes: readonly SeenName[]): SeenName | undefined {
  return changes.at(-1);
}

interface Head extends Pick<StoredRead, 'standby' | 'epoch' | 'complete'> {
  readonly xmin: bigint;
  readonly xmax: bigint;
  readonly purged: bigint;
}

function judge(place: FeedPlace | undefined, head: Head, seen: StoredRead['seen']): EdgeFeedRead['kind'] {
  if (!head.complete) return 'incomplete';
  if (place === undefined) return 'start';
  if (place.epoch !== head.epoch) return 'another-epoch';
  if (place.from > head.xmax) return head.standby ? 'behind' : 'another-epoch';
  // A mark from a restored cluster may be in the future: it says nothing here.
  const purged = head.purged < head.xmax ? head.purged : 0n;
  if ([place.from, ...place.inFlight].some((unseen) => unseen <= purged)) return 'expired';
  const { newest } = place;
  if (newest === undefined || (seen === null && newest.xid <= purged)) return 'changes';
  const [version, xid] = seen ?? [0, '0'];
  // A later version has taken its place, or it is the same one.
  if (version > newest.version || (version === newest.version && BigInt(xid) === newest.xid))
    return 'changes';
  return head.standby && newest.xid >= head.xmin ? 'behind' : 'another-epoch';
}
