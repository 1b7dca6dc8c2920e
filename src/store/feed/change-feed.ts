// Reads the change feed. Versions come from a sequence before the commit, so a transaction with a low version can
// commit after one with a higher version. A cursor must not skip it, so it is a snapshot: the set of transactions that
// it has not seen. One statement reads their changes and takes the next cursor from its own snapshot. No process waits.
//
//   cursor = { from: xmax, inFlight: the snapshot's running transactions }   on a primary cursor = { from: xmin,
//   inFlight: [] }                                     on a standby, which does not list them
//
// A cursor belongs to an epoch: one history of one database. Restores and promotions start another epoch, in which
// versions and transaction ids have another meaning.

import type { Connection } from '../postgres/connection.ts';

export interface FeedCursor {
  readonly epoch: string;
  /** Unseen are all transactions from this one on, and those in flight. */
  readonly from: bigint;
  readonly inFlight: readonly bigint[];
  /** The newest applied changes. If the database lacks one of them, its history is another, even if the epoch is the same. */
  readonly recent: readonly SeenChange[];
}

export interface SeenChange {
  readonly id: number;
  readonly mark: number;
  readonly xid: bigint;
}

/** A change, with its zone in the same snapshot. The zone is undefined if it is deleted. */
interface FeedChange extends SeenChange {
  readonly at: Date;
  readonly zoneId: number;
  readonly zone: ZoneState | undefined;
}

export interface ZoneState {
  readonly id: number;
  readonly version: number;
  readonly mark: number;
  readonly records: number;
}

export interface FeedRead {
  /**
   * `changes`: apply them. `start`: there was no cursor. `expired`: changes after the cursor have been purged, compare.
   * `another-epoch`: load everything. `behind`: a standby has not reached the cursor yet, read again. `incomplete`: the
   * database is being restored, read again.
   */
  readonly kind: 'changes' | 'start' | 'expired' | 'another-epoch' | 'behind' | 'incomplete';
  readonly changes: readonly FeedChange[];
  /** The cursor to keep once everything of this read is applied. */
  readonly cursor: FeedCursor;
  /** True if there are more changes: read on after the last one, and keep the cursor of the first read. */
  readonly more: boolean;
  readonly standby: boolean;
  /** The held removals that an operator has confirmed for this node. */
  readonly confirmedId: string | null;
}

const RECENT = 16;
const PAGE = 5000;

/**
 * The epoch combines system identifier, timeline, database, tables (a restore creates new ones) and a row of the fleet.
 * After a fast promotion, the control file's timeline lags; the WAL file name does not, but a standby does not provide
 * it.
 */
export const EPOCH_SQL = `
  (select system_identifier from pg_control_system())::text || '/' ||
  case when pg_is_in_recovery()
    then (select greatest(c.timeline_id, r.min_recovery_end_timeline)
          from pg_control_checkpoint() c, pg_control_recovery() r)
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  end::text || '/' || (select oid from pg_database where datname = current_database())::text || '/' ||
  'changes'::regclass::oid::text || '/' || 'zones'::regclass::oid::text || '/' || feed.epoch::text`;

// pg_restore creates foreign keys last, when all rows are present.
export const COMPLETE_SQL = `exists (
  select from pg_constraint where conrelid = 'zone_records'::regclass and contype = 'f' and convalidated)`;

const UNSEEN_COLUMNS = 'c.id, c.zone_id, c.xid, c.mark, c.at';
// Changes restored from another cluster may have transaction ids from the future. They are not new.
const UNSEEN_BOUNDS = `c.xid < (select pg_snapshot_xmax(snapshot) from head)
  and (c.xid, c.id) > ((select $3::xid8), (select $4::bigint)) order by c.xid, c.id limit ${PAGE}`;

// Postgres must not see the cursor when it plans. Otherwise it expects fewer rows than in a generic plan, and plans the
// prepared statement again at each read.
const READ_SQL = `
  with head as materialized (
    select pg_current_snapshot() as snapshot, pg_is_in_recovery() as standby, ${EPOCH_SQL} as epoch,
      ${COMPLETE_SQL} as complete, feed.purged_xid
    from feed limit 1),
  unseen as (
    (select ${UNSEEN_COLUMNS} from changes c where c.xid >= (select $1::xid8) and ${UNSEEN_BOUNDS})
    union all
    (select ${UNSEEN_COLUMNS} from changes c
     where c.xid = any((select $2::xid8[])::xid8[]) and c.xid < (select $1::xid8) and ${UNSEEN_BOUNDS})
    order by xid, id limit ${PAGE})
  select head.snapshot::text, head.standby, head.epoch, head.complete, head.purged_xid::text,
    case when u.id is null then
      array(select id || ':' || mark || ':' || xid from changes where id = any($5::bigint[])) end,
    case when u.id is null then (select confirmed_id from nodes where name = $6) end,
    u.id, u.mark, u.xid::text, u.at, u.zone_id, z.version, z.mark, z.records
  from head
    cross join lateral (select null::bigint as id, null::bigint as zone_id, null::xid8 as xid, null::bigint as mark,
      null::timestamptz as at union all select * from unseen) u
    -- Looked up by id, because with statistics of small, new tables Postgres has scanned all zones on every read.
    left join lateral (select * from zones z where z.id = u.zone_id and z.deleted_at is null offset 0) z on true`;

const NEWEST_SQL = `select id, mark, xid::text from changes order by id desc limit ${RECENT}`;

/** Reads the unseen changes, starting after `after`. `nodeName` is the node whose confirmation is read. */
export async function readFeed(
  connection: Connection,
  nodeName: string,
  cursor: FeedCursor | undefined,
  after?: SeenChange,
): Promise<FeedRead> {
  const rows = await connection.query(READ_SQL, [
    (cursor?.from ?? MAX_XID).toString(),
    (cursor?.inFlight ?? []).map(String),
    (after?.xid ?? 0n).toString(),
    after?.id ?? 0,
    (cursor?.recent ?? []).map((change) => change.id),
    nodeName,
  ]);
  const headRow = rows.find((row) => row[7] === null);
  if (headRow === undefined) return NOTHING_THERE; // no row in `feed`
  const head = decodeHead(headRow);
  const changes = rows.filter((row) => row[7] !== null).map(decodeChange);
  changes.sort((a, b) => (a.xid === b.xid ? a.id - b.id : a.xid < b.xid ? -1 : 1));
  const kind = judge(cursor, head);
  const recent =
    kind === 'changes' || kind === 'behind'
      ? newest([...(cursor?.recent ?? []), ...changes])
      : (await connection.query(NEWEST_SQL)).map(decodeSeen);
  return {
    kind,
    changes: kind === 'changes' ? changes : [],
    more: kind === 'changes' && changes.length === PAGE,
    cursor: {
      epoch: head.epoch,
      from: head.standby ? head.xmin : head.xmax,
      inFlight: head.standby ? [] : head.running,
      recent,
    },
    standby: head.standby,
    confirmedId: head.confirmedId,
  };
}

const MAX_XID = (1n << 63n) - 1n;

const NOTHING_THERE: FeedRead = {
  kind: 'incomplete',
  changes: [],
  more: false,
  cursor: { epoch: '', from: 0n, inFlight: [], recent: [] },
  standby: false,
  confirmedId: null,
};

export function newest(changes: readonly SeenChange[]): SeenChange[] {
  const byId = new Map(changes.map(({ id, mark, xid }) => [id, { id, mark, xid }]));
  return [...byId.values()].sort((a, b) => b.id - a.id).slice(0, RECENT);
}

/** Returns the snapshot of a node that has reached the cursor, as a Postgres snapshot. */
export function cursorSnapshot(cursor: FeedCursor): string {
  const running = [...cursor.inFlight].sort((a, b) => (a < b ? -1 : 1));
  return `${lowestUnseen(cursor)}:${cursor.from}:${running.join(',')}`;
}

function lowestUnseen({ from, inFlight }: FeedCursor): bigint {
  let lowest = from;
  for (const xid of inFlight) if (xid < lowest) lowest = xid;
  return lowest;
}

interface Head {
  xmin: bigint;
  xmax: bigint;
  running: bigint[];
  standby: boolean;
  epoch: string;
  complete: boolean;
  purgedXid: bigint;
  found: Map<number, string>;
  confirmedId: string | null;
}

function decodeHead(row: readonly unknown[]): Head {
  const [snapshot, standby, epoch, complete, purgedXid, found, confirmedId] = row as [
    string,
    boolean,
    string,
    boolean,
    string,
    string[],
    string | null,
  ];
  const [xmin, xmax, running] = snapshot.split(':') as [string, string, string];
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: running === '' ? [] : running.split(',').map(BigInt),
    standby,
    epoch,
    complete,
    purgedXid: BigInt(purgedXid),
    found: new Map(found.map((text) => [Number(text.slice(0, text.indexOf(':'))), text])),
    confirmedId,
  };
}

function decodeSeen(row: readonly unknown[]): SeenChange {
  const [id, mark, xid] = row as [number, number, string];
  return { id, mark, xid: BigInt(xid) };
}

function decodeChange(row: readonly unknown[]): FeedChange {
  const [id, mark, xid, at, zoneId, version, zoneMark, records] = row.slice(7) as [
    number,
    number,
    string,
    Date,
    number,
    number | null,
    number,
    number,
  ];
  const zone = version === null ? undefined : { id: zoneId, version, mark: zoneMark, records };
  return { id, mark, xid: BigInt(xid), at, zoneId, zone };
}

function judge(cursor: FeedCursor | undefined, head: Head): FeedRead['kind'] {
  if (!head.complete) return 'incomplete';
  if (cursor === undefined) return 'start';
  if (cursor.epoch !== head.epoch) return 'another-epoch';
  if (cursor.from > head.xmax) return head.standby ? 'behind' : 'another-epoch';
  let behind = false;
  // A purge position from the future was restored from another cluster and has no meaning here.
  const purgedXid = head.purgedXid < head.xmax ? head.purgedXid : 0n;
  for (const { id, mark, xid } of cursor.recent) {
    if (head.found.get(id) === `${id}:${mark}:${xid}`) continue;
    const missing = !head.found.has(id);
    if (missing && xid <= purgedXid) continue;
    if (!(missing && head.standby && xid >= head.xmin)) return 'another-epoch';
    behind = true;
  }
  if (behind) return 'behind';
  return lowestUnseen(cursor) <= purgedXid ? 'expired' : 'changes';
}
