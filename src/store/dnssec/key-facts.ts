// Input of the key machine besides its own state: the servers of the delegation, and the versions that nodes serve.

import { sql } from 'kysely';
import type { NodePosition } from '../../checks/dnssec/node-positions.ts';
import type { Delegation } from '../../checks/dnssec/step.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { EPOCH_SQL } from '../feed/change-feed.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';

/** Two days, the largest common TTL of NS sets (RFC 1912 §2.2 recommends days). */
const UNKNOWN_NS_TTL = 172_800;
/** A run that started within this time of the domain's creation is its first one. Older runs are deleted. */
const FIRST_WITHIN = '1 hour';

interface DelegationRow {
  readonly id: number;
  readonly since: Date | null;
  readonly ttl: number | null;
  readonly isFirst: boolean;
  readonly elsewhereSince: Date | null;
}

/**
 * Loads the servers that the parent names for domains, and since when, from their logs of checks. Skips inconclusive
 * runs. A run represents all later checks with the same outcome.
 */
export async function loadDelegations(
  db: Database,
  domainIds: readonly number[],
): Promise<Map<number, Delegation>> {
  const { rows } = await sql<DelegationRow>`
    select d.id, l.since, l."elsewhereSince", l.ttl,
      coalesce(l.none and l.first < d.created_at + ${FIRST_WITHIN}::interval, false) as "isFirst"
    from domains d, lateral (
      with run as materialized (
        select id, verdict, started_at, finished_at from check_runs
        where domain_id = d.id and verdict <> 'unknown'),
      turned as (select coalesce(max(id), 0) as id from run where verdict <> 'match'),
      matching as (
        select min(r.finished_at) as since, max(r.id) as last from run r, turned t where r.id > t.id),
      before as (
        select min(r.started_at) as first, bool_and(r.verdict in ('unregistered', 'not_delegated')) as none
        from run r, turned t where r.id <= t.id)
      select m.since, b.first, b.none, (
          select min(finished_at) from run where id > coalesce((
            select max(id) from run where verdict not in ('foreign', 'not_delegated', 'unregistered')), 0)) as "elsewhereSince", (
          select max((s ->> 'ttl')::integer) from check_runs c, jsonb_array_elements(c.evidence -> 'servers') s
          where c.id = m.last) as ttl
      from matching m, before b) l
    where d.id = any(${domainIds}::bigint[])`.execute(db);
  return new Map(rows.map((row) => [row.id, decodeDelegation(row)]));
}

function decodeDelegation({ since, ttl, isFirst, elsewhereSince }: DelegationRow): Delegation {
  if (since === null)
    return { kind: 'not_ours', ...(elsewhereSince !== null && { elsewhereSince: elsewhereSince.getTime() }) };
  return { kind: 'ours', since: since.getTime(), ttl: ttl ?? UNKNOWN_NS_TTL, isFirst };
}

/**
 * Returns the version of a parent zone of this fleet that added or removed the stored DS set of a domain. Until every
 * node serves that version, some node shows the earlier set. If the set is older than the zone's oldest removed rows,
 * returns the version of that time. Returns undefined if the zone is deleted.
 */
export async function loadHeldDsVersion(
  db: Database,
  zone: Name,
  domain: Name,
): Promise<{ zoneId: number; version: number } | undefined> {
  const { rows } = await sql<{ zoneId: number; version: number }>`
    select z.id as "zoneId", coalesce((
      select max(r.version) from zone_records r
      where r.zone_id = z.id and r.owner = ${encodeNameColumn(domain)} and r.type = any(${[TYPE.NS, TYPE.DS]}::integer[])),
      z.complete_since) as version
    from zones z where z.name = ${encodeNameColumn(zone)} and z.deleted_at is null`.execute(db);
  return rows[0];
}

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

/** The version that every node has of a domain without a zone. */
const NO_ZONE = Number.MAX_SAFE_INTEGER;

/**
 * Loads the version of a zone that each node serves, based on the transactions that it has seen: a node with a later
 * change of another zone may lack an earlier change of this zone. Queries the primary. `zoneId` is null if there is no
 * zone.
 */
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
 * The newest change of the zone that the node has seen. Changes are purged: a node that has seen all purged ones has
 * the version before the remaining ones. A transaction ID from the future was restored from another cluster, before any
 * node loaded. A node that holds removals back still serves a deleted zone.
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
