// The nodes of the fleet, as they report themselves to the primary. A node's connection holds an advisory lock on its
// name, so that a second process with the name is rejected, but a dead process does not block the name.

import { sql } from 'kysely';
import type { Connection } from '../postgres/connection.ts';
import type { Database } from '../postgres/database.ts';
import { announce } from '../postgres/transaction.ts';
import { EPOCH_SQL } from './change-feed.ts';

export interface NodeReport {
  name: string;
  instance: string;
  startedAt: Date;
  loaded: boolean;
  epoch: string | undefined;
  position: number | undefined;
  /** pg_snapshot text: the node serves every change whose transaction is visible in it. */
  snapshot: string | undefined;
  zones: number;
  records: number;
  held: HeldRemovals | undefined;
  /** Zones whose newest content the node does not serve. */
  unserved: readonly number[];
  abilities: readonly string[];
  version: string;
  /** Since the node's start. */
  traffic: Traffic;
  /** Used and maximum bytes of the node's image. */
  image: { used: number; capacity: number };
}

/** Responses that were sent, and those that were withheld or cut by a limit, or that the system failed to send. */
interface Traffic {
  answered: number;
  dropped: number;
}

/** The node answers signed zones with signatures and proofs. */
export const DNSSEC_ABILITY = 'dnssec';

/** Removals that wait for an operator's confirmation. */
interface HeldRemovals {
  id: string;
  since: Date;
  zones: number;
}

const NAME_LOCK_SEED = 0x6e6f6465; // 'node'

/**
 * `ending`: an earlier session of this process still has the name and is being terminated, because the server has not
 * noticed that its client is disconnected. Retry soon.
 */
export type NodeClaim = 'claimed' | 'ending' | 'taken';

/** Claims the name until the connection ends. `instance` identifies the process to which connections belong. */
export async function claimNodeName(
  connection: Connection,
  { name, instance }: Pick<NodeReport, 'name' | 'instance'>,
): Promise<NodeClaim> {
  const lock = [name, NAME_LOCK_SEED];
  // Set here, because the database URL may set another name when connecting. A report need not wait for the disk.
  await connection.query(
    "select set_config('application_name', $1, false), set_config('synchronous_commit', 'off', false)",
    [`zonefleet node ${instance} ${name}`], // truncated at 63 bytes, after the instance
  );
  const [claimed] = await connection.query('select pg_try_advisory_lock(hashtextextended($1, $2))', lock);
  if (claimed?.[0] === true) return 'claimed';
  const ended = await connection.query(END_OWN_SESSION, lock);
  return ended.length > 0 ? 'ending' : 'taken';
}

/** In pg_locks, a bigint lock is split into two halves, with objsubid 1. A role may terminate its own sessions. */
const END_OWN_SESSION = `
  select pg_terminate_backend(l.pid) from pg_locks l
    join pg_database d on d.oid = l.database and d.datname = current_database()
    join pg_stat_activity a on a.pid = l.pid and a.application_name = current_setting('application_name'),
    (select hashtextextended($1, $2) as key) k
  where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
    and l.classid = ((k.key >> 32) & 4294967295)::oid and l.objid = (k.key & 4294967295)::oid`;

/** Returns when the node last reported, as text for comparison, or undefined if never. */
export async function loadLastReport(connection: Connection, name: string): Promise<string | undefined> {
  const [row] = await connection.query('select seen_at::text from nodes where name = $1', [name]);
  return row?.[0] as string | undefined;
}

/** A node with more such zones reports no ids, because the cause is not a single zone. */
const MAX_UNSERVED = 1000;

/** Call it only in the process that has claimed the name. */
export async function saveNodeReport(connection: Connection, report: NodeReport): Promise<void> {
  await connection.query(
    `insert into nodes as n (name, instance, started_at, loaded, epoch, position, snapshot, zones, records,
       held_id, held_since, held_zones, unserved, abilities, image_octets, image_capacity, version, answered, dropped)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
     on conflict (name) do update set instance = excluded.instance, started_at = excluded.started_at,
       seen_at = excluded.seen_at, left_at = null, loaded = excluded.loaded, epoch = excluded.epoch,
       position = excluded.position, snapshot = excluded.snapshot, zones = excluded.zones,
       records = excluded.records, held_id = excluded.held_id, held_since = excluded.held_since,
       held_zones = excluded.held_zones, unserved = excluded.unserved, abilities = excluded.abilities,
       image_octets = excluded.image_octets, image_capacity = excluded.image_capacity, version = excluded.version, answered = excluded.answered,
       dropped = excluded.dropped, forgotten_at = null`,
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
      report.unserved.length <= MAX_UNSERVED ? report.unserved : null,
      report.abilities,
      report.image.used,
      report.image.capacity,
      report.version,
      report.traffic.answered,
      report.traffic.dropped,
    ],
  );
}

/** Signs a node off: a node that shuts down cleanly is no longer waited for. */
export async function signOffNode(connection: Connection, name: string, instance: string): Promise<void> {
  await connection.query(
    `update nodes set left_at = clock_timestamp(), held_id = null, held_since = null, held_zones = 0
     where name = $1 and instance = $2`,
    [name, instance],
  );
}

export interface ListedNode {
  name: string;
  /** `live`: reported within 5 s. `silent`: did not. `left`: shut down cleanly. */
  state: 'live' | 'silent' | 'left';
  loaded: boolean;
  startedAt: Date;
  seenAt: Date;
  uptimeSeconds: number;
  /** The newest change that the node has applied. */
  position: number | null;
  /** Age of the oldest change that the node has not reported as applied. Null if the node has another epoch. */
  lagSeconds: number | null;
  zones: number;
  records: number;
  /**
   * Number of zones that the node serves in an older version or not at all, because the newest cannot be built or has
   * no space. Null if over 1,000.
   */
  unserved: number | null;
  held: (HeldRemovals & { confirmed: boolean }) | null;
  /** Null, like the following fields, if the node's version does not report it. */
  version: string | null;
  traffic: Traffic | null;
  image: NodeReport['image'] | null;
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
  unserved: number | null;
  held_id: string | null;
  held_since: Date;
  held_zones: number;
  confirmed_id: string | null;
  version: string | null;
  answered: number | null;
  dropped: number | null;
  image_octets: number | null;
  image_capacity: number | null;
}

/** Lists the nodes that are not forgotten, from the primary. */
export async function listNodes(db: Database): Promise<ListedNode[]> {
  const { rows } = await sql<NodeRow>`
    with current as materialized (select ${sql.raw(EPOCH_SQL)} as epoch from feed)
    select n.name, n.loaded, n.started_at, n.seen_at, n.position, n.zones, n.records,
      case when n.left_at is not null then 'left'
        when n.seen_at > clock_timestamp() - interval '5 seconds' then 'live' else 'silent' end as state,
      greatest(0, extract(epoch from coalesce(n.left_at, n.seen_at) - n.started_at))::float8 as uptime_seconds,
      case when n.loaded and n.epoch = (select epoch from current) then coalesce((
        select greatest(0, extract(epoch from clock_timestamp() - min(c.at)))::float8 from changes c
        where c.xid >= pg_snapshot_xmin(n.snapshot) and c.xid < pg_snapshot_xmax(pg_current_snapshot())
          and not pg_visible_in_snapshot(c.xid, n.snapshot)), 0) end as lag_seconds,
      cardinality(n.unserved) as unserved, n.held_id, n.held_since, n.held_zones, n.confirmed_id,
      n.version, n.answered, n.dropped, n.image_octets, n.image_capacity
    from nodes n where n.forgotten_at is null order by n.name`.execute(db);
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
    unserved: row.unserved,
    held:
      row.held_id === null
        ? null
        : {
            id: row.held_id,
            since: row.held_since,
            zones: row.held_zones,
            confirmed: row.held_id === row.confirmed_id,
          },
    version: row.version,
    traffic:
      row.answered === null || row.dropped === null ? null : { answered: row.answered, dropped: row.dropped },
    image:
      row.image_octets === null || row.image_capacity === null
        ? null
        : { used: row.image_octets, capacity: row.image_capacity },
  }));
}

export interface ConfirmedNode {
  name: string;
  /** `confirmed`: its held removals are released. `nothing-held`: there are none. `absent`: the node does not exist. */
  outcome: 'confirmed' | 'nothing-held' | 'absent';
  zones: number;
}

/** Releases the removals that are held now, on the named nodes or on all. */
export async function confirmNodes(db: Database, names?: readonly string[]): Promise<ConfirmedNode[]> {
  const { rows } = await sql<{ name: string; zones: number }>`
    update nodes set confirmed_id = held_id
    where held_id is not null and forgotten_at is null and (${names ?? null}::text[] is null or name = any(${names ?? null}::text[]))
    returning name, held_zones as zones`.execute(db);
  if (rows.length > 0) announce(db);
  const confirmed = new Map(rows.map((row) => [row.name, row.zones]));
  if (names === undefined) {
    return [...confirmed].sort().map(([name, zones]) => ({ name, outcome: 'confirmed', zones }));
  }
  const known = await db
    .selectFrom('nodes')
    .select('name')
    .where('name', 'in', [...names, ''])
    .where('forgotten_at', 'is', null)
    .execute();
  return names.map((name) => {
    const zones = confirmed.get(name);
    if (zones !== undefined) return { name, outcome: 'confirmed', zones };
    return { name, outcome: known.some((node) => node.name === name) ? 'nothing-held' : 'absent', zones: 0 };
  });
}

export interface ForgottenNode {
  name: string;
  /** `live`: the node still reports, so it cannot be forgotten. `absent`: the node does not exist. */
  outcome: 'forgotten' | 'unchanged' | 'live' | 'absent';
}

/**
 * Records that nodes are permanently removed: they are no longer listed, and key steps no longer wait for them. A node
 * that reports again is listed again.
 */
export async function forgetNodes(db: Database, names: readonly string[]): Promise<ForgottenNode[]> {
  const { rows } = await sql<{ name: string; outcome: ForgottenNode['outcome'] }>`
    with known as materialized (
      select name, forgotten_at, left_at is null and seen_at > clock_timestamp() - interval '5 seconds' as live
      from nodes where name = any(${names}::text[]) for update),
    forgotten as (
      update nodes n set forgotten_at = clock_timestamp() from known k
      where n.name = k.name and not k.live and k.forgotten_at is null)
    select name, case when live then 'live' when forgotten_at is not null then 'unchanged' else 'forgotten' end as outcome
    from known`.execute(db);
  const outcomes = new Map(rows.map(({ name, outcome }) => [name, outcome]));
  return names.map((name) => ({ name, outcome: outcomes.get(name) ?? 'absent' }));
}
