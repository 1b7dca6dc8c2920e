// Operator zones into Postgres and out of it, each call one transaction. Only the difference is written: rows that stay
// are not touched, rows that go become tombstones, and a zone without a difference gets no change.
//
//   lock the zones' rows in order of name → draw versions → write differences, chunk by chunk → changes → commit → NOTIFY

import { sql } from 'kysely';
import type { Name } from '../dns/name.ts';
import type { ZoneRecord } from '../zone/zone.ts';
import { announceChanges } from './announce-changes.ts';
import type { Database } from './database.ts';
import { encodeNameColumn } from './name-column.ts';
import { purgeFeedWhenDue } from './purge-feed.ts';
import type { ChangeOperation, ChangeSource, ZoneKind } from './schema.ts';
import { type Chunk, chunksOf, type RecordRow, recordRows, type ZoneRows } from './zone-rows.ts';

export interface ChangeBy {
  source: ChangeSource;
  actor?: string;
}

export interface SavedZone {
  apex: Name;
  /** The version that is stored now; unchanged zones keep theirs. */
  version: number;
  outcome: 'created' | 'replaced' | 'unchanged';
  records: number;
}

export interface UnloadedZone {
  apex: Name;
  outcome: 'unloaded' | 'absent';
  version?: number;
}

interface LockedZone {
  id: number;
  name: string;
  kind: ZoneKind;
  version: number;
  deleted: boolean;
  nextVersion: number;
}

/**
 * Makes each zone hold exactly these records; `buildZone` must have accepted them. All zones or, on an error, none.
 * The same zone twice in one call is a bug of the caller's.
 */
export async function saveZones(
  db: Database,
  zones: readonly { apex: Name; records: readonly ZoneRecord[] }[],
  by: ChangeBy,
): Promise<SavedZone[]> {
  if (zones.length === 0) return [];
  const wanted = new Map<string, RecordRow[]>();
  for (const { apex, records } of zones) {
    const name = encodeNameColumn(apex);
    if (wanted.has(name)) throw new RangeError(`${name} is saved twice in one call`);
    wanted.set(name, recordRows(records));
  }
  const { locked, changed } = await db.transaction().execute(async (trx) => {
    const locked = await lockZones(trx, [...wanted.keys()], true);
    const rows: ZoneRows[] = [...locked.values()].map((zone) => ({
      zoneId: zone.id,
      version: zone.nextVersion,
      rows: wanted.get(zone.name) ?? [],
    }));
    const changed = new Set([...locked.values()].filter((zone) => zone.deleted).map((zone) => zone.id));
    for (const chunk of chunksOf(rows)) {
      for (const zoneId of await writeDifference(trx, chunk)) changed.add(zoneId);
    }
    await writeChanges(trx, rows.filter((zone) => changed.has(zone.zoneId)).map(savedZone), 'zone.save', by);
    return { locked, changed };
  });
  await afterCommit(db, changed.size);
  return zones.map(({ apex }) => {
    const name = encodeNameColumn(apex);
    const zone = locked.get(name) as LockedZone;
    const records = (wanted.get(name) as RecordRow[]).length;
    if (!changed.has(zone.id)) return { apex, version: zone.version, outcome: 'unchanged', records };
    return { apex, version: zone.nextVersion, outcome: zone.deleted ? 'created' : 'replaced', records };
  });
}

/** Takes zones out of service. Their rows go at once: who missed the removal sees the version and loads anew. */
export async function unloadZones(
  db: Database,
  apexes: readonly Name[],
  by: ChangeBy,
): Promise<UnloadedZone[]> {
  const names = apexes.map(encodeNameColumn);
  const unloaded = await db.transaction().execute(async (trx) => {
    const locked = await lockZones(trx, [...new Set(names)], false);
    const present = [...locked.values()].filter((zone) => !zone.deleted);
    const ids = present.map((zone) => zone.id);
    await sql`delete from zone_records where zone_id = any(${ids}::bigint[])`.execute(trx);
    await writeChanges(trx, present.map(unloadedZone), 'zone.unload', by);
    return new Map(present.map((zone) => [zone.name, zone.nextVersion]));
  });
  await afterCommit(db, unloaded.size);
  return apexes.map((apex, i) => {
    const version = unloaded.get(names[i] as string);
    return version === undefined ? { apex, outcome: 'absent' } : { apex, outcome: 'unloaded', version };
  });
}

async function afterCommit(db: Database, changes: number): Promise<void> {
  if (changes === 0) return;
  announceChanges(db);
  await purgeFeedWhenDue(db);
}

/**
 * Locks the zones' rows, in one order for all writers (no deadlock), and draws each one's next version under its lock:
 * so a zone's versions rise in the order of the commits. With `create`, missing zones get a row, as deleted ones.
 */
async function lockZones(
  trx: Database,
  names: readonly string[],
  create: boolean,
): Promise<Map<string, LockedZone>> {
  for (;;) {
    if (create) await createMissingZones(trx, names);
    const { rows } = await sql<LockedZone>`
      with locked as (
        select id, name, kind, version, deleted_at is not null as deleted
        from zones where name = any(${names}::text[]) order by name for update)
      select id, name, kind, version, deleted, nextval('change_version') as "nextVersion" from locked`.execute(
      trx,
    );
    const customer = rows.find((zone) => zone.kind === 'domain');
    if (customer !== undefined)
      throw new Error(`${customer.name} is a customer's domain, not an operator zone`);
    // A row can be purged between the two statements: then it is made again.
    if (!create || rows.length === names.length) return new Map(rows.map((zone) => [zone.name, zone]));
  }
}

async function createMissingZones(trx: Database, names: readonly string[]): Promise<void> {
  await sql`
    insert into zones (name, kind, version, mark, records, deleted_at)
    select n.name, 'operator', 0, 0, 0, now() from unnest(${names}::text[]) as n(name)
    where not exists (select from zones z where z.name = n.name)
    order by n.name collate "C"
    on conflict (name) do nothing`.execute(trx);
}

/** Writes what differs and returns the ids of the zones in which something did. */
async function writeDifference(trx: Database, chunk: Chunk): Promise<Set<number>> {
  const { slices, rows } = chunk;
  const touched = await sql<{ zone_id: number }>`
    with slice as materialized (
      select * from unnest(
        ${slices.map((s) => s.zoneId)}::bigint[], ${slices.map((s) => s.version)}::bigint[],
        ${slices.map((s) => s.first)}::text[], ${slices.map((s) => s.end)}::text[]
      ) as s(zone_id, version, first, "end")),
    incoming as materialized (
      select i.*, case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\\x00'::bytea end as identity
      from unnest(
        ${rows.map((r) => r.zoneId)}::bigint[], ${rows.map((r) => r.version)}::bigint[],
        ${rows.map((r) => r.owner)}::text[], ${rows.map((r) => r.type)}::integer[],
        ${rows.map((r) => r.ttl)}::bigint[], ${rows.map((r) => r.rdata)}::bytea[]
      ) as i(zone_id, version, owner, type, ttl, rdata)),
    present as materialized (
      select r.ctid, r.zone_id, r.owner, r.type, r.ttl, s.version,
             case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\\x00'::bytea end as identity
      from slice s join zone_records r
        on r.zone_id = s.zone_id and r.owner >= s.first and (s."end" is null or r.owner < s."end")
      where not r.removed),
    removed as (
      update zone_records r set removed = true, version = p.version
      from present p left join incoming i using (zone_id, owner, type, identity)
      where r.ctid = p.ctid and i.zone_id is null
      returning r.zone_id),
    written as (
      insert into zone_records as r (zone_id, owner, type, ttl, rdata, version)
      select i.zone_id, i.owner, i.type, i.ttl, i.rdata, i.version
      from incoming i left join present p using (zone_id, owner, type, identity)
      where p.zone_id is null or p.ttl <> i.ttl
      on conflict (zone_id, owner, type,
        (case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\\x00'::bytea end))
      do update set ttl = excluded.ttl, version = excluded.version, removed = false
      returning r.zone_id)
    select distinct zone_id from (select zone_id from removed union all select zone_id from written) t`.execute(
    trx,
  );
  return new Set(touched.rows.map((row) => row.zone_id));
}

interface ChangedZone {
  zoneId: number;
  version: number;
  records: number;
  deleted: boolean;
}

const savedZone = (zone: ZoneRows): ChangedZone => ({
  zoneId: zone.zoneId,
  version: zone.version,
  records: zone.rows.length,
  deleted: false,
});

const unloadedZone = (zone: LockedZone): ChangedZone => ({
  zoneId: zone.id,
  version: zone.nextVersion,
  records: 0,
  deleted: true,
});

/** A deleted zone keeps no rows behind: `complete_since` sends every older version to a whole load. */
async function writeChanges(
  trx: Database,
  zones: readonly ChangedZone[],
  operation: ChangeOperation,
  by: ChangeBy,
): Promise<void> {
  if (zones.length === 0) return;
  await sql`
    with changed as materialized (
      select *, (random() * 9007199254740991)::bigint as mark from unnest(
        ${zones.map((z) => z.zoneId)}::bigint[], ${zones.map((z) => z.version)}::bigint[],
        ${zones.map((z) => z.records)}::integer[], ${zones.map((z) => z.deleted)}::boolean[]
      ) as c(id, version, records, deleted)),
    touched as (
      update zones z set version = c.version, mark = c.mark, records = c.records,
        deleted_at = case when c.deleted then now() end,
        complete_since = case when c.deleted then c.version else z.complete_since end
      from changed c where z.id = c.id
      returning z.id, z.name, z.version, z.mark)
    insert into changes (id, zone_id, zone, operation, source, actor, mark)
    select version, id, name, ${operation}, ${by.source}, ${by.actor ?? null}, mark from touched`.execute(
    trx,
  );
}
