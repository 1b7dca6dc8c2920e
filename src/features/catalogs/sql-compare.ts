// Compares the zones of the fleet with the members of the catalogs that it produces.

import { type RawBuilder, sql } from 'kysely';
import { ROOT } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { MemberZone, StoredListing } from '../../zone/catalog/plan-members.ts';
import { MARK_TYPE, unprovenMarkOf } from '../../zone/zone.ts';

/** A catalog that this fleet produces. */
export interface Producer {
  readonly id: number;
  readonly name: string;
  readonly maxMembers: number;
  readonly selects: 'all' | 'account' | null;
  /** Why no zone joins. Null unless the catalog is full. */
  readonly finding: string | null;
  /** True if all zones must be compared, not only those that have changed. */
  readonly isDue: boolean;
}

/** A former member stays in its catalog for this long, so that all consumers learn where it has moved (RFC 9432 §4.3.1). */
const MOVING = sql`interval '1 hour'`;
/**
 * All zones are compared with a new catalog; again when the transactions that did not know it have ended; every minute
 * while it is full; and every hour, which corrects what a restore or an error left behind.
 */
const IS_DUE = sql`(compared_at is null or compared_at < now() - interval '1 hour'
  or findings <> '[]' and compared_at < now() - interval '1 minute'
  or now() - created_at > interval '2 minutes' and compared_at - created_at < interval '2 minutes')`;

/** Returns true if a round has work, and a second has passed since the last one. */
export async function isRoundDue(db: Database): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean }>`
    select (coalesce((select min(due_at) from catalog_changes) <= now(), false)
        or exists (select from catalogs where role = 'producer' and ${IS_DUE}))
      and not exists (select from catalogs where published_at > clock_timestamp() - interval '1 second') as "isDue"`.execute(
    db,
  );
  return rows[0]?.isDue === true;
}

/** The advisory lock of the worker that publishes: `cata` in ASCII. */
const PUBLISH_LOCK = 1667331169;

/** Returns undefined if another worker publishes, or has just published. */
export async function lockProducers(trx: Database): Promise<Producer[] | undefined> {
  const { rows } = await sql<{ isMine: boolean }>`
    select pg_try_advisory_xact_lock(${PUBLISH_LOCK}) as "isMine"`.execute(trx);
  if (rows[0]?.isMine !== true || !(await isRoundDue(trx))) return undefined;
  const found = await sql<Producer>`
    select id, name, max_members as "maxMembers", selects, findings->0->>'message' as finding, ${IS_DUE} as "isDue"
    from catalogs c where role = 'producer' order by id for update`.execute(trx);
  return found.rows;
}

const MOST_CHANGES = 20_000;

/** The reasons to compare a zone. */
interface ZoneChange {
  /** True if the zone was deleted: a zone that has its name now is another one. */
  readonly isReplaced: boolean;
  /** True if the zone's time as a former member of a catalog is over. */
  readonly hasMoved: boolean;
}

/** Removes the oldest changes from the queue. Returns them by the id of the zone. */
export async function takeChanges(trx: Database): Promise<Map<number, ZoneChange>> {
  const { rows } = await sql<ZoneChange & { id: number }>`
    with taken as (
      delete from catalog_changes where id in (
        select id from catalog_changes where due_at <= now() order by due_at limit ${MOST_CHANGES})
      returning zone_id, reason)
    select zone_id as id, bool_or(reason = 'deleted') as "isReplaced", bool_or(reason = 'moved') as "hasMoved"
    from taken group by 1`.execute(trx);
  return new Map(rows.map(({ id, ...change }) => [id, change]));
}

/** Makes the next round compare these zones again, and a round in an hour, when their time as former members is over. */
export async function noteMoves(trx: Database, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    insert into catalog_changes (zone_id, reason, due_at)
    select id, r.reason, clock_timestamp() + r.delay
    from unnest(${[...ids]}::bigint[]) i (id),
      (values ('changed', interval '0'), ('moved', ${MOVING})) r (reason, delay)`.execute(trx);
}

/** Zones whose catalog or group differs from their listing. */
interface Differences {
  /** Zones that leave all catalogs come first: a purged zone before another one with its name. */
  readonly ids: readonly number[];
  /** Number of zones that join each catalog, and that leave it and join none; also those beyond the limit. */
  readonly joining: ReadonlyMap<number, number>;
  readonly leaving: ReadonlyMap<number, number>;
  /** True if there are more zones. */
  readonly isMore: boolean;
}

const MOST_DIFFERENCES = 100_000;

/** @param among undefined for all zones */
export async function findDifferences(
  trx: Database,
  producers: readonly Producer[],
  among: readonly number[] | undefined,
): Promise<Differences> {
  const isAmong = (column: string) =>
    among === undefined ? sql`` : sql`and ${sql.raw(column)} = any(${[...among]}::bigint[])`;
  // One row for all zones with the same catalogs, because a row for each zone would take much memory.
  const { rows } = await sql<{ from: number | null; to: number | null; count: number; ids: string }>`
    select m.catalog_id as from, w.catalog_id as to, count(*)::integer as count,
      array_to_string((array_agg(coalesce(w.id, m.zone_id)))[1:${sql.raw(`${MOST_DIFFERENCES}`)}], ',') as ids
    from (${wantedZones(producers, isAmong('z.id'))}) w
    full join (select * from catalog_members m where m.zone_id is not null and m.left_at is null ${isAmong('m.zone_id')}) m
      on m.zone_id = w.id
    where w.id is null or m.zone_id is null or m.catalog_id <> w.catalog_id or m.group_name is distinct from w.group_name
    group by 1, 2 order by w.catalog_id nulls first`.execute(trx);
  const joining = new Map<number, number>();
  const leaving = new Map<number, number>();
  const add = (counts: Map<number, number>, id: number, count: number) =>
    counts.set(id, (counts.get(id) ?? 0) + count);
  for (const { from, to, count } of rows) {
    if (to !== null && to !== from) add(joining, to, count);
    if (to === null && from !== null) add(leaving, from, count);
  }
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  const ids = rows.flatMap((row) => row.ids.split(',').map(Number)).slice(0, MOST_DIFFERENCES);
  return { ids, joining, leaving, isMore: all > ids.length };
}

/** A zone with its listings. */
export interface ComparedZone extends Omit<MemberZone, 'isReplaced'> {
  /** Undefined if the zone was purged. */
  readonly name: string | undefined;
  readonly stored: readonly (StoredListing & { readonly name: string })[];
}

interface ComparedRow {
  readonly id: number;
  readonly name: string | null;
  readonly version: number;
  readonly catalogId: number | null;
  readonly group: string | null;
  readonly stored: readonly {
    readonly catalogId: number;
    readonly name: string;
    readonly label: string;
    readonly group: string | null;
    readonly hasLeft: boolean;
    readonly isOver: boolean;
    readonly movedTo: number | null;
  }[];
}

/** Loads these zones, deleted or not, with their listings. */
export async function loadCompared(
  trx: Database,
  producers: readonly Producer[],
  ids: readonly number[],
): Promise<ComparedZone[]> {
  const { rows } = await sql<ComparedRow>`
    with wanted as materialized (${wantedZones(producers, sql`and z.id = any(${[...ids]}::bigint[])`)}),
    listed as materialized (
      select zone_id as id, jsonb_agg(jsonb_build_object('catalogId', catalog_id, 'name', name, 'label', label,
        'group', group_name, 'hasLeft', left_at is not null, 'movedTo', moved_to,
        'isOver', coalesce(moved_to is null and left_at is not null or left_at < now() - ${MOVING}, false))) as stored
      from catalog_members where zone_id = any(${[...ids]}::bigint[]) group by 1)
    select i.id, w.name, coalesce(w.version, 0) as version, w.catalog_id as "catalogId", w.group_name as group,
      coalesce(l.stored, '[]') as stored
    from unnest(${[...ids]}::bigint[]) i (id) left join wanted w on w.id = i.id left join listed l on l.id = i.id`.execute(
    trx,
  );
  return rows.map(({ id, name, version, catalogId, group, stored }) => ({
    id,
    name: name ?? undefined,
    version,
    wanted: catalogId === null ? undefined : { catalogId, group },
    stored: stored.map(({ hasLeft, movedTo, ...listing }) => ({
      ...listing,
      coo: hasLeft ? (movedTo ?? 0) : undefined,
    })),
  }));
}

/**
 * Returns a query of the zones that nodes serve whole, each with the catalog that selects it: the one to which it was added
 * by hand, else that of its account, else that of all zones; the oldest of several. A mark at the apex, other than that of
 * an unproven zone, means that nodes serve the zone in part, not at all, or only to peers.
 */
function wantedZones(producers: readonly Producer[], condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const hasAccounts = producers.some(({ selects }) => selects === 'account');
  const ofAccount = sql`(
    select min(a.id) from catalogs a join domains d on d.account_id = a.account_id
    where a.selects = 'account' and d.zone_id = z.id)`;
  const ofAll = producers.find(({ selects }) => selects === 'all')?.id ?? null;
  return sql`
    select z.id, z.name, z.version, c.id as catalog_id, case when c.group_by_policy then coalesce(p.name,
      (select name from transfer_policies where is_default)) end as group_name
    from zones z left join catalog_names n on n.name = z.name
      join catalogs c on c.id = coalesce(n.catalog_id, ${hasAccounts ? ofAccount : sql`null`}, ${ofAll}::bigint)
      left join transfer_policies p on p.id = z.policy_id
    where z.deleted_at is null ${condition} and coalesce((
      select r.ttl from zone_records r where r.zone_id = z.id and r.owner = z.name and r.type = ${MARK_TYPE} and not r.removed
      limit 1), ${UNPROVEN_TTL}) = ${UNPROVEN_TTL}`;
}

const UNPROVEN_TTL = unprovenMarkOf(ROOT).ttl;
