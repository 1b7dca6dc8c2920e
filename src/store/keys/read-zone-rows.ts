// Reads what a plan of signatures has to see of a zone: owners, their neighbours in the ring, what lies below a cut. One
// statement for all owners and neighbours of a step; names below a few others are found there,
// those below many in one pass over the owners.

import { sql } from 'kysely';
import { type Name, parentOf, ROOT } from '../../dns/name.ts';
import { denialType } from '../../zone/signing/denial-records.ts';
import type { Needed } from '../../zone/signing/plan-signing.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { arrayOf } from '../postgres/array-of.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { DenialKind } from '../postgres/schema.ts';

interface Row {
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Buffer;
}

/** For more names than these the owners are searched here: each name that Postgres searches for is a pass over the zone. */
const MOST_SEARCHED = 16;
/** Names in one statement. */
const AT_ONCE = 2000;

/** `wanted`: the names whose own rows do not count as below another. A zone may have another chain than of the kind `denial`. */
export async function readNeeded(
  trx: Database,
  zoneId: number,
  needed: Needed,
  { denial, wanted }: { readonly denial: DenialKind; readonly wanted: ReadonlyMap<Name, unknown> },
): Promise<ZoneRecord[]> {
  if (needed.whole) return await readWhole(trx, zoneId);
  const owners = needed.owners.map(encodeNameColumn);
  const places = needed.before.map((place) => Buffer.from(place, 'latin1'));
  const rows: Row[] = [];
  for (let at = 0; at < Math.max(owners.length, places.length); at += AT_ONCE) {
    const piece = {
      owners: owners.slice(at, at + AT_ONCE),
      places: places.slice(at, at + AT_ONCE),
      denial: denialType(denial),
    };
    rows.push(...(await readAt(trx, zoneId, piece)));
  }
  if (needed.below.length + needed.anyBelow.length > MOST_SEARCHED) {
    const found = await findBelow(trx, zoneId, needed, wanted);
    return [...decodeRows(rows), ...(await readOwners(trx, zoneId, found))];
  }
  if (needed.below.length > 0) rows.push(...(await readBelow(trx, zoneId, needed.below)));
  if (needed.anyBelow.length > 0) rows.push(...(await readAnyBelow(trx, zoneId, needed.anyBelow, wanted)));
  return decodeRows(rows);
}

/** All owners below one of `below`, and one for each of `anyBelow`: one pass over the zone, however many names there are. */
async function findBelow(
  trx: Database,
  zoneId: number,
  needed: Needed,
  wanted: ReadonlyMap<Name, unknown>,
): Promise<Name[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zoneId} and not removed and type not in (46, 47, 50)`.execute(trx);
  const below = new Set(needed.below);
  const anyBelow = new Set(needed.anyBelow);
  const found: Name[] = [];
  for (const { owner: text } of rows) {
    const owner = decodeNameColumn(text);
    let isFound = false;
    for (let at = owner; at !== ROOT; ) {
      at = parentOf(at);
      if (below.has(at)) isFound = true;
      if (!wanted.has(owner) && anyBelow.delete(at)) isFound = true;
    }
    if (isFound) found.push(owner);
  }
  return found;
}

/** All rows of a zone that are served. */
export async function readWhole(trx: Database, zoneId: number): Promise<ZoneRecord[]> {
  const { rows } = await sql<Row>`
    select owner, type, ttl, rdata from zone_records where zone_id = ${zoneId} and not removed
    order by owner`.execute(trx);
  return decodeRows(rows);
}

/** All rows of these owners. */
export async function readOwners(
  trx: Database,
  zoneId: number,
  owners: readonly Name[],
): Promise<ZoneRecord[]> {
  const needed = { whole: false, owners, before: [], below: [], anyBelow: [] };
  return await readNeeded(trx, zoneId, needed, { denial: 'nsec', wanted: new Map() }); // it asks for no place
}

/** The rows of these owners, and for each place those of the denial before it: the last one, where none is before it. */
async function readAt(
  trx: Database,
  zoneId: number,
  {
    owners,
    places,
    denial,
  }: { readonly owners: readonly string[]; readonly places: readonly Buffer[]; readonly denial: number },
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    with neighbour as materialized (
      select distinct coalesce(
        (select n.owner from zone_records n
          where n.zone_id = ${zoneId} and n.type = ${denial} and n.place < p.place and n.place is not null
            and not n.removed
          order by n.place desc limit 1),
        (select n.owner from zone_records n
          where n.zone_id = ${zoneId} and n.type = ${denial} and n.place is not null and not n.removed
          order by n.place desc limit 1)) as owner
      from unnest(${arrayOf('bytea', places)}) as p(place))
    select r.owner, r.type, r.ttl, r.rdata from unnest(${arrayOf('text', owners)}) as o(owner)
      cross join lateral (
        select * from zone_records r where r.zone_id = ${zoneId} and r.owner = o.owner and not r.removed offset 0) r
    union all
    select r.owner, r.type, r.ttl, r.rdata from neighbour o
      cross join lateral (
        select * from zone_records r
        where r.zone_id = ${zoneId} and r.owner = o.owner and r.type in (46, 47, 50) and not r.removed offset 0) r`.execute(
    trx,
  );
  return rows;
}

/** An escaped dot ends no label: an odd number of backslashes stands before it. */
const ENDS_LABEL = sql`length(substring(left(r.owner, -length(e.ending)) from '\\\\*$')) % 2 = 0`;

async function readBelow(trx: Database, zoneId: number, names: readonly Name[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select r.owner, r.type, r.ttl, r.rdata from zone_records r
    where r.zone_id = ${zoneId} and not r.removed and exists (
      select from unnest(${arrayOf('text', names.map(endingOf))}) as e(ending)
      where right(r.owner, length(e.ending)) = e.ending and ${ENDS_LABEL})`.execute(trx);
  return rows;
}

/** One row below each of these names, if there is any. */
async function readAnyBelow(
  trx: Database,
  zoneId: number,
  names: readonly Name[],
  wanted: ReadonlyMap<Name, unknown>,
): Promise<Row[]> {
  const others = [...wanted.keys()].map(encodeNameColumn);
  const { rows } = await sql<Row>`
    select r.owner, r.type, r.ttl, r.rdata from unnest(${arrayOf('text', names.map(endingOf))}) as e(ending)
      cross join lateral (
        select * from zone_records r
        where r.zone_id = ${zoneId} and not r.removed and r.type not in (46, 47, 50)
          and right(r.owner, length(e.ending)) = e.ending and ${ENDS_LABEL}
          and r.owner not in (select unnest(${arrayOf('text', others)}))
        limit 1) r`.execute(trx);
  return rows;
}

function endingOf(name: Name): string {
  return `.${encodeNameColumn(name)}`;
}

let lastText = '';
let lastOwner: Name | undefined;

function decodeRows(rows: readonly Row[]): ZoneRecord[] {
  return rows.map(({ owner, type, ttl, rdata }) => {
    if (owner !== lastText || lastOwner === undefined) {
      lastOwner = decodeNameColumn(owner);
      lastText = owner;
    }
    return { owner: lastOwner, type, ttl, rdata };
  });
}
