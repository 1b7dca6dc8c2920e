// The nodes of the fleet, as each reports itself to the primary. A node's name is held by an advisory lock of its
// connection, so that a second live process of one name is refused and a dead one blocks nobody.

import { sql } from 'kysely';
import { announceChanges } from './announce-changes.ts';
import { EPOCH_SQL } from './change-feed.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

export interface NodeReport {
  name: string;
  instance: string;
  startedAt: Date;
  loaded: boolean;
  epoch: string | undefined;
  position: number | undefined;
  /** pg_snapshot text: every change whose transaction it sees is served. */
  snapshot: string | undefined;
  zones: number;
  records: number;
  held: HeldRemovals | undefined;
}

/** Removals that wait for an operator. */
export interface HeldRemovals {
  id: string;
  since: Date;
  zones: number;
}

const NAME_LOCK_SEED = 0x6e6f6465; // 'node'

/** True when no other live process has this name; held until the connection ends. */
export async function claimNodeName(connection: Connection, name: string): Promise<boolean> {
  const rows = await connection.query('select pg_try_advisory_lock(hashtextextended($1, $2))', [
    name,
    NAME_LOCK_SEED,
  ]);
  if (rows[0]?.[0] !== true) return false;
  // A report is worth no wait for the disk.
  await connection.query('set synchronous_commit = off');
  return true;
}

/** Only for the process that has claimed the name. */
export async function saveNodeReport(connection: Connection, report: NodeReport): Promise<void> {
  await connection.query(
    `insert into nodes as n (name, instance, started_at, loaded, epoch, position, snapshot, zones, records,
       held_id, held_since, held_zones)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (name) do update set instance = excluded.instance, started_at = excluded.started_at,
       seen_at = excluded.seen_at, left_at = null, loaded = excluded.loaded, epoch = excluded.epoch,
       position = excluded.position, snapshot = excluded.snapshot, zones = excluded.zones,
       records = excluded.records, held_id = excluded.held_id, held_since = excluded.held_since,
       held_zones = excluded.held_zones`,
    [
      report.name,
      report.instance,
      report.startedAt,
      report.loaded,
      report.epoch ?? null,
      report.position ?? null,
      report.snapshot ?? null,
      report.zones,
      report.records,
      report.held?.id ?? null,
      report.held?.since ?? null,
      report.held?.zones ?? 0,
    ],
  );
}

/** A node that leaves in order is no longer waited for. */
export async function signOffNode(connection: Connection, name: string, instance: string): Promise<void> {
  await connection.query(
    `update nodes set left_at = clock_timestamp(), held_id = null, held_since = null, held_zones = 0
     where name = $1 and instance = $2`,
    [name, instance],
  );
}

export interface ListedNode {
  name: string;
  /** `live`: reported within 5 s. `silent`: not. `left`: stopped in order. */
  state: 'live' | 'silent' | 'left';
  loaded: boolean;
  startedAt: Date;
  seenAt: Date;
  uptimeSeconds: number;
  /** The newest change that the node has applied. */
  position: number | null;
  /** The age of the oldest change that it has not reported as applied; null when it knows another epoch. */
  lagSeconds: number | null;
  zones: number;
  records: number;
  held: (HeldRemovals & { confirmed: boolean }) | null;
}

interface NodeRow {
  name: string;
  state: ListedNode['state'];
  loaded: boolean;
  started_at: Date;
  seen_at: Date;
  uptime_seconds: number;
  position: number | null;
  lag_seconds: number | null;
  zones: number;
  records: number;
  held_id: string | null;
  held_since: Date;
  held_zones: number;
  confirmed_id: string | null;
}

/** Asked of the primary. */
export async function listNodes(db: Database): Promise<ListedNode[]> {
  const { rows } = await sql<NodeRow>`
    with current as materialized (select ${sql.raw(EPOCH_SQL)} as epoch from feed)
    select n.name, n.loaded, n.started_at, n.seen_at, n.position, n.zones, n.records,
      case when n.left_at is not null then 'left'
        when n.seen_at > clock_timestamp() - interval '5 seconds' then 'live' else 'silent' end as state,
      extract(epoch from coalesce(n.left_at, n.seen_at) - n.started_at)::float8 as uptime_seconds,
      case when n.loaded and n.epoch = (select epoch from current) then coalesce((
        select greatest(0, extract(epoch from clock_timestamp() - min(c.at)))::float8 from changes c
        where c.xid >= pg_snapshot_xmin(n.snapshot) and c.xid < pg_snapshot_xmax(pg_current_snapshot())
          and not pg_visible_in_snapshot(c.xid, n.snapshot)), 0) end as lag_seconds,
      n.held_id, n.held_since, n.held_zones, n.confirmed_id
    from nodes n order by n.name`.execute(db);
  return rows.map((row) => ({
    name: row.name,
    state: row.state,
    loaded: row.loaded,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    uptimeSeconds: row.uptime_seconds,
    position: row.position,
    lagSeconds: row.lag_seconds,
    zones: row.zones,
    records: row.records,
    held:
      row.held_id === null
        ? null
        : {
            id: row.held_id,
            since: row.held_since,
            zones: row.held_zones,
            confirmed: row.held_id === row.confirmed_id,
          },
  }));
}

export interface ConfirmedNode {
  name: string;
  /** `confirmed`: its held removals go through. `nothing-held`: there are none. `absent`: no such node. */
  outcome: 'confirmed' | 'nothing-held' | 'absent';
  zones: number;
}

/** Releases the removals that are held now; without names, on every node that holds some. */
export async function confirmNodes(db: Database, names?: readonly string[]): Promise<ConfirmedNode[]> {
  const { rows } = await sql<{ name: string; zones: number }>`
    update nodes set confirmed_id = held_id
    where held_id is not null and (${names ?? null}::text[] is null or name = any(${names ?? null}::text[]))
    returning name, held_zones as zones`.execute(db);
  if (rows.length > 0) announceChanges(db);
  const confirmed = new Map(rows.map((row) => [row.name, row.zones]));
  if (names === undefined) {
    return [...confirmed].sort().map(([name, zones]) => ({ name, outcome: 'confirmed', zones }));
  }
  const known = await db
    .selectFrom('nodes')
    .select('name')
    .where('name', 'in', [...names, ''])
    .execute();
  return names.map((name) => {
    const zones = confirmed.get(name);
    if (zones !== undefined) return { name, outcome: 'confirmed', zones };
    return { name, outcome: known.some((node) => node.name === name) ? 'nothing-held' : 'absent', zones: 0 };
  });
}
