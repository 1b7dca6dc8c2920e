// Reads the feed for edges, which has one row per domain name with its newest version. As in the feed of zones
// (store/feed/change-feed.ts), a position is a snapshot, so that a change that commits late is never skipped. An edge
// that was disconnected receives each changed domain once. Only rows of names without a domain are eventually deleted
// (store/housekeeping/purges.ts). An edge that was disconnected for longer receives everything.

import { sql } from 'kysely';
import type { EdgeSight } from '../../edge/certificates/judge-sights.ts';
import { COMPLETE_SQL, EPOCH_SQL } from '../feed/change-feed.ts';
import type { Database } from '../postgres/database.ts';
import { decodeEdgeCursor, type EdgeCursor, type FeedPlace, type SeenName } from './edge-cursor.ts';

export interface EdgeFeedRead {
  /**
   * `changes`: apply them. `start`: there was no position. `another-epoch`, and `expired` (unseen rows are deleted):
   * send everything again. `behind`: a standby has not reached the position yet, read again. `incomplete`: the database
   * is being restored, read again.
   */
  readonly kind: 'changes' | 'start' | 'another-epoch' | 'expired' | 'behind' | 'incomplete';
  /** In the order of transactions and names. */
  readonly changes: readonly SeenName[];
  /** Position to keep once all changes are sent, including those of the next reads if there are more. */
  readonly place: FeedPlace;
  readonly more: boolean;
}

/** The epoch of `feed` with the table's number, because a table that is created again has another history. */
const EDGE_EPOCH_SQL = sql.raw(`md5(${EPOCH_SQL} || '/' || 'edge_changes'::regclass::oid::text)`);

const MAX_XID = (1n << 63n) - 1n;

/** Call it in a transaction with one snapshot. Starts after `after`, which an earlier read from the same position returned. */
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
  // A purge position from the future was restored from another cluster and has no meaning here.
  const purged = head.purged < head.xmax ? head.purged : 0n;
  if ([place.from, ...place.inFlight].some((unseen) => unseen <= purged)) return 'expired';
  const { newest } = place;
  if (newest === undefined || (seen === null && newest.xid <= purged)) return 'changes';
  const [version, xid] = seen ?? [0, '0'];
  // The change is unchanged or was replaced by a later version.
  if (version > newest.version || (version === newest.version && BigInt(xid) === newest.xid))
    return 'changes';
  return head.standby && newest.xid >= head.xmin ? 'behind' : 'another-epoch';
}

/** Edges report every ten seconds. An edge that is silent for this long may be down. */
const SILENT_SECONDS = 35;

/** Loads the reported progress of each edge that serves the domain with the domain's configuration. */
export async function loadEdgeSights(db: Database, domainId: number): Promise<EdgeSight[]> {
  const { rows } = await sql<SightRow>`
    with head as materialized (select ${EDGE_EPOCH_SQL} as epoch from feed limit 1)
    select e.v4 || e.v6 as addresses, e.config_cursor as cursor, c.xid::text as xid, head.epoch,
      coalesce(e.seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}), false) as "isHeard"
    from head cross join domains d join edge_changes c on c.name = d.name cross join edges e
    where d.id = ${domainId} and e.revoked_at is null
      and (d.edge_regions is null or e.region = any(d.edge_regions))
    order by e.id`.execute(db);
  return rows.map(({ addresses, cursor, xid, epoch, isHeard }) => ({
    addresses,
    isHeard,
    seen: cursor === null ? 'untold' : hasSeen(cursor, { epoch, xid: BigInt(xid) }) ? 'yes' : 'no',
  }));
}

interface SightRow {
  readonly addresses: string[];
  readonly cursor: string | null;
  readonly xid: string;
  readonly epoch: string;
  readonly isHeard: boolean;
}

/** Returns false for a position in the history of another database. */
function hasSeen(text: string, { epoch, xid }: { readonly epoch: string; readonly xid: bigint }): boolean {
  const cursor: EdgeCursor | undefined = decodeEdgeCursor(text);
  if (cursor === undefined || cursor.after !== undefined || cursor.place.epoch !== epoch) return false;
  const { from, inFlight } = cursor.place;
  return xid < from && !inFlight.includes(xid);
}
