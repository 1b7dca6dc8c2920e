// Writes zones under the locks of their rows: versions, differences of records, changes. Unchanged rows are not
// touched. A removed row becomes a tombstone, unless its set gets a newer row, which has the same effect on nodes.

import { type RawBuilder, sql } from 'kysely';
import { EDGE_MARK_TYPE, MARK_TYPE } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import { arrayOf, type Column, tableOf } from '../postgres/prepared-statements.ts';
import type { ChangeOperation, ChangeSource, ZoneKind } from '../postgres/tables/schema.ts';
import type { Chunk } from './zone-rows.ts';

export interface LockedZone {
  id: number;
  name: string;
  kind: ZoneKind;
  version: number;
  records: number;
  deleted: boolean;
  nextVersion: number;
  /** True if a peer may transfer the zone, so that the records of each change are kept for incremental transfers. */
  keepsHistory: boolean;
}

/** Condition of `zones` that a peer may transfer. */
export const KEEPS_HISTORY = sql`(
  exists (select from policy_peers p where p.transfers and p.policy_id =
    coalesce(zones.policy_id, (select id from transfer_policies where is_default)))
  or exists (select from peers p join domains d on d.id = p.domain_id where p.transfers and d.zone_id = zones.id))`;

/** Columns of `zones`. */
export const LOCKED_ZONE_COLUMNS = sql`id, name, kind, version, records, deleted_at is not null as deleted,
  ${KEEPS_HISTORY} as "keepsHistory"`;

/**
 * Locks the zones' rows in the same order as all writers (no deadlock). Draws each zone's next version under its lock,
 * so that a zone's versions increase in the order of commits. With `create`, missing zones get a row that is marked as
 * deleted.
 */
export async function lockZones(
  trx: Database,
  names: readonly string[],
  create: boolean,
): Promise<Map<string, LockedZone>> {
  for (;;) {
    if (create) await createMissingZones(trx, names);
    const { rows } = await sql<LockedZone>`
      with locked as (
        select ${LOCKED_ZONE_COLUMNS} from zones where name = any(${arrayOf('text', names)}::text[]) order by name for update)
      select *, nextval('change_version') as "nextVersion" from locked`.execute(trx);
    // The row may be purged between the two statements. Then it is inserted again.
    if (!create || rows.length === names.length) return new Map(rows.map((zone) => [zone.name, zone]));
  }
}

async function createMissingZones(trx: Database, names: readonly string[]): Promise<void> {
  const created = sql`
    insert into zones (name, kind, version, mark, records, deleted_at)
    select n.name, 'operator', 0, 0, 0, now() from unnest(${names}::text[]) as n(name)
    where not exists (select from zones z where z.name = n.name)
    order by n.name collate "C"
    on conflict (name) do nothing`;
  await sendWithNext(trx, created);
}

/** Releases the zone name, so that an operator zone or another domain can have it. */
export async function releaseName(trx: Database, zoneId: number): Promise<void> {
  await sql`update zones set kind = 'operator' where id = ${zoneId}`.execute(trx);
}

const ROW_COLUMNS: readonly Column<Chunk['rows'][number]>[] = [
  { name: 'owner', type: 'text', read: ({ owner }) => owner },
  { name: 'zone_id', type: 'bigint', read: ({ zoneId }) => zoneId },
  { name: 'version', type: 'bigint', read: ({ version }) => version },
  { name: 'type', type: 'integer', read: ({ type }) => type },
  { name: 'ttl', type: 'bigint', read: ({ ttl }) => ttl },
  { name: 'rdata', type: 'bytea', read: ({ rdata }) => rdata },
  { name: 'place', type: 'bytea', read: ({ place }) => place },
];

/** Writes the differences. Returns for each changed zone by how much its number of records grew. */
export async function writeDifference(trx: Database, chunk: Chunk): Promise<Map<number, number>> {
  const { rows } = await sql<{ zone_id: number; growth: number }>`
    with ${differenceWritten(chunk)} select zone_id, growth from grown`.execute(trx);
  return new Map(rows.map((row) => [row.zone_id, row.growth]));
}

/** Does the same as parts of a WITH, whose result is `grown` and, for zones that keep history, `kept`. */
export function differenceWritten({ slices, rows, histories }: Chunk): RawBuilder<unknown> {
  const isKept = histories.length > 0;
  return sql`slice as materialized (
      select * from unnest(
        ${arrayOf('bigint', slices, (s) => s.zoneId)}, ${arrayOf('bigint', slices, (s) => s.version)},
        ${arrayOf('text', slices, (s) => s.first)}, ${arrayOf('text', slices, (s) => s.end)},
        ${arrayOf('text', slices, ({ types }) => types && `{${types.join()}}`)}
      ) as s(zone_id, version, first, "end", types)),
    incoming as materialized (
      select i.*, case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\\x00'::bytea end as identity
      from ${tableOf(rows, ROW_COLUMNS)} i),
    present as materialized (
      select r.*, s.version from slice s cross join lateral (
        -- Both bounds use the index, separately for each slice.
        select r.ctid, r.zone_id, r.owner, r.type, r.ttl,${isKept ? sql` r.rdata,` : sql``}
               case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\\x00'::bytea end as identity
        from zone_records r
        where r.zone_id = s.zone_id and r.owner >= s.first and r.owner < coalesce(s."end", chr(127))
          and (s.types is null or r.type = any(s.types::integer[])) and not r.removed offset 0) r),
    fresh as materialized (
      select i.*, p.zone_id is null as added, p.ttl as old_ttl
      from incoming i left join present p using (zone_id, owner, type, identity)
      where p.zone_id is null or p.ttl <> i.ttl),
    going as materialized (
      select p.ctid, p.zone_id, p.version, p.type, f.zone_id is not null as succeeded${isKept ? sql`, p.owner, p.ttl, p.rdata` : sql``}
      from present p left join incoming i using (zone_id, owner, type, identity)
        left join (select distinct zone_id, owner, type from fresh) f
          on f.zone_id = p.zone_id and f.owner = p.owner and f.type = p.type
      where i.zone_id is null),
    -- Row addresses in arrays are looked up one by one, regardless of the planner's row estimate of \`going\`.
    removed as (
      update zone_records r set removed = true, version = g.version
      from (
        select unnest(ctids) as ctid, unnest(versions) as version
        from (select array_agg(ctid) as ctids, array_agg(version) as versions from going where not succeeded) a) g
      where r.ctid = g.ctid),
    dropped as (
      delete from zone_records r where r.ctid = any (array (select ctid from going where succeeded))),
    written as (
      insert into zone_records as r (zone_id, owner, type, ttl, rdata, version, place)
      select zone_id, owner, type, ttl, rdata, version, place from fresh
      on conflict (zone_id, owner, type,
        (case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\\x00'::bytea end))
      do update set ttl = excluded.ttl, version = excluded.version, removed = false),
    grown as (
      select zone_id, sum(growth)::integer as growth
      from (
        select zone_id, -(type <> 0)::integer as growth from going
        union all select zone_id, (added and type <> 0)::integer from fresh) t
      group by zone_id)${isKept ? keptOf(histories) : sql``}`;
}

/** Does the same for the rows of one zone that has none yet. */
export function rowsWritten({ slices, rows }: Chunk): RawBuilder<unknown> {
  const growth = rows.filter(({ type }) => type !== MARK_TYPE).length;
  return sql`written as (
      insert into zone_records (zone_id, owner, type, ttl, rdata, version, place)
      select zone_id, owner, type, ttl, rdata, version, place from ${tableOf(rows, ROW_COLUMNS)} i),
    grown as (select ${slices[0]?.zoneId}::bigint as zone_id, ${growth}::integer as growth)`;
}

/** Inserts the removed and added records of these zones. A changed TTL is both. Marks are not records. */
function keptOf(histories: readonly number[]): RawBuilder<unknown> {
  return sql`,
    kept as (
      insert into zone_differences (zone_id, version, removed, owner, type, ttl, rdata)
      select * from (
        select zone_id, version, true, owner, type, ttl, rdata from going
        union all select zone_id, version, true, owner, type, old_ttl, rdata from fresh where not added
        union all select zone_id, version, false, owner, type, ttl, rdata from fresh) d
      where zone_id = any(${histories}::bigint[]) and type not in (${MARK_TYPE}, ${EDGE_MARK_TYPE})
      returning zone_id, version, removed, type, rdata)`;
}

export interface ChangedZone {
  zoneId: number;
  version: number;
  records: number;
  deleted: boolean;
  /** True if the records of the change are kept. */
  keepsHistory: boolean;
}

/** Returns a zone's new state. `records` is undefined if it is deleted. */
export function changedZone(zone: LockedZone, records: number | undefined): ChangedZone {
  const deleted = records === undefined;
  const keepsHistory = zone.keepsHistory && !zone.deleted && !deleted;
  return { zoneId: zone.id, version: zone.nextVersion, records: records ?? 0, deleted, keepsHistory };
}

/** From this number of records on, a zone is slow to read with statistics of a smaller table. */
const LARGE_RECORDS = 50_000;

export async function writeChanges(
  trx: Database,
  zones: readonly ChangedZone[],
  operation: ChangeOperation,
  by: ChangedZonesBy,
): Promise<void> {
  if (zones.length === 0) return;
  await sql`with ${changesWritten(zones, operation, by)} select`.execute(trx);
  const most = Math.max(...zones.map(({ records }) => records));
  if (most >= LARGE_RECORDS) await sql`select analyze_zone_records(${most})`.execute(trx);
}

/**
 * Writes the last chunk of a zone's change, the change and `others`, which are parts of a WITH, with one statement.
 * `zone.records` does not include the chunk.
 */
export async function writeLastChange(
  trx: Database,
  zone: ChangedZone,
  last: Chunk | undefined,
  by: ChangedZonesBy,
  others: readonly RawBuilder<unknown>[],
): Promise<void> {
  const parts = [
    ...(last === undefined ? [] : [differenceWritten(last)]),
    changesWritten([zone], 'zone.save', by, last),
    ...others,
  ];
  const added = last?.rows.length ?? 0;
  if (added === 0 || zone.records + added < LARGE_RECORDS)
    return await sendWithNext(trx, sql`with ${sql.join(parts)} select`);
  const { rows } = await sql<{ growth: number }>`
    with ${sql.join(parts)} select coalesce((select growth from grown), 0) as growth`.execute(trx);
  const { growth } = rows[0] as { growth: number };
  const records = zone.records + growth;
  if (growth > 0 && records >= LARGE_RECORDS) await sql`select analyze_zone_records(${records})`.execute(trx);
}

interface ChangedZonesBy {
  readonly source: ChangeSource;
  readonly actor?: string;
}

const NO_GROWTH = sql`0`;
const GROWTH = sql`coalesce((select growth from grown where zone_id = c.id), 0)`;

/**
 * Writes the zones' new state and the feed's rows, as parts of a WITH. `last` is a part of the change that
 * `differenceWritten` writes in the same statement. A deleted zone keeps no rows: `complete_since` makes a node with an
 * older version load all of it.
 */
export function changesWritten(
  zones: readonly ChangedZone[],
  operation: ChangeOperation,
  by: ChangedZonesBy,
  last?: Chunk,
): RawBuilder<unknown> {
  const histories = zones.flatMap(({ zoneId, keepsHistory }) => (keepsHistory ? [zoneId] : []));
  return sql`changed as materialized (
      select id, version, records + ${last ? GROWTH : NO_GROWTH} as records, deleted,
        (random() * 9007199254740991)::bigint as mark
      from unnest(
        ${arrayOf('bigint', zones, (z) => z.zoneId)}, ${arrayOf('bigint', zones, (z) => z.version)},
        ${arrayOf('integer', zones, (z) => z.records)}, ${arrayOf('boolean', zones, (z) => z.deleted)}
      ) as c(id, version, records, deleted)),
    touched as (
      update zones z set version = c.version, mark = c.mark, records = c.records,
        deleted_at = case when c.deleted then now() end,
        complete_since = case when c.deleted then c.version else z.complete_since end
      from changed c where z.id = c.id
      returning z.id, z.name, z.version, z.mark),
    fed as (
      insert into changes (id, zone_id, zone, operation, source, actor, mark)
      select version, id, name, ${operation}, ${by.source}, ${by.actor ?? null}, mark from touched)${
        histories.length > 0 ? historyOf(histories, (last?.histories.length ?? 0) > 0) : sql``
      }`;
}

/** Changes with more records than this, and more than half of the zone's, are not kept. */
const MOST_SMALL_ROWS = 1000;

/** Records the change of each of these zones, with the serials in its SOA records. */
function historyOf(histories: readonly number[], hasKept: boolean): RawBuilder<unknown> {
  const stored = sql`select removed, type, rdata from zone_differences where zone_id = c.id and version = c.version`;
  const all = hasKept
    ? sql`${stored} union all select removed, type, rdata from kept where zone_id = c.id and version = c.version`
    : stored;
  return sql`,
    history as (
      insert into zone_history (zone_id, version, version_before, serial_before, serial_after, rows)
      select c.id, c.version, case when d.rows <= greatest(${MOST_SMALL_ROWS}, c.records / 2) then z.version end,
        d.before, d.after, d.rows
      from changed c join zones z on z.id = c.id cross join lateral (
        select coalesce(sum(rows), 0)::integer as rows, max(${SERIAL}) filter (where net < 0) as before,
          max(${SERIAL}) filter (where net > 0) as after
        from (
          select soa as rdata, count(*) as rows, case when soa is not null then count(*) - 2 * count(*) filter (where removed) end as net
          from (select removed, case when type = 6 then rdata end as soa from (${all}) r) s group by soa) t) d
      where c.id = any(${histories}::bigint[]))`;
}

/** The serial in SOA rdata. */
const SERIAL = sql`(('x' || encode(substr(rdata, octet_length(rdata) - 19, 4), 'hex'))::bit(32)::bigint)`;
