// Reads the rows of a zone that a signing plan needs: owners, their neighbours in the chain, and names below a name.
// One statement reads all owners and neighbours of a step. Names below a name come from an index if the zone has NSEC3;
// otherwise they are needed only where a zone cut is added or removed, and are searched for.

import { type RawBuilder, sql } from 'kysely';
import { type Name, parentOf, ROOT } from '../../dns/name.ts';
import { denialType } from '../../zone/signing/denial-records.ts';
import type { Needed } from '../../zone/signing/plan-signing.ts';
import type { DenialKind } from '../../zone/signing/signed-types.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';
import { ownersBelow, recordsBelow } from './hashed-names.ts';

interface Row {
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Buffer;
}

/** More names than this are searched for here, because Postgres would scan the zone once per name. */
const MOST_SEARCHED = 16;
const AT_ONCE = 2000;
const PAGE_ROWS = 1000;

interface NeededIn {
  readonly denial: DenialKind;
  /** Names whose own rows do not count as rows below another name. */
  readonly wanted: ReadonlyMap<Name, unknown>;
}

export async function readNeeded(
  trx: Database,
  zoneId: number,
  needed: Needed,
  { denial, wanted }: NeededIn,
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
  if (needed.below.length > 0)
    for (const row of await readBelow(trx, zoneId, needed.below, denial)) rows.push(row);
  if (needed.anyBelow.length > 0) {
    const found = await sql<Row>`${recordsBelow(zoneId, needed.anyBelow, wanted.keys())}`.execute(trx);
    rows.push(...found.rows);
  }
  return decodeRows(rows);
}

/** Reads all rows of a zone that are served. */
export async function readWhole(trx: Database, zoneId: number): Promise<ZoneRecord[]> {
  const { rows } = await sql<Row>`
    select owner, type, ttl, rdata from zone_records where zone_id = ${zoneId} and not removed
    order by owner`.execute(trx);
  return decodeRows(rows);
}

/** Does the same page by page, with complete owners. Concurrent changes may or may not be included. */
export async function* readPages(db: Database, zoneId: number): AsyncGenerator<ZoneRecord[]> {
  for (let after = ''; ; ) {
    const { rows } = await sql<Row>`
      select owner, type, ttl, rdata from zone_records
      where zone_id = ${zoneId} and owner > ${after} and not removed
      order by owner fetch first ${PAGE_ROWS} rows with ties`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield decodeRows(rows);
    after = last.owner;
  }
}

export async function readOwners(
  trx: Database,
  zoneId: number,
  owners: readonly Name[],
): Promise<ZoneRecord[]> {
  const needed = { whole: false, owners, before: [], below: [], anyBelow: [] };
  return await readNeeded(trx, zoneId, needed, { denial: 'nsec', wanted: new Map() });
}

/**
 * Reads the rows of the given owners. For each position in `before`, also reads the previous denial record, or the last one of
 * the chain if no record precedes it.
 */
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

/** Reads all rows of the names below the given ones. */
async function readBelow(
  trx: Database,
  zoneId: number,
  names: readonly Name[],
  denial: DenialKind,
): Promise<Row[]> {
  const owners = denial === 'nsec3' ? ownersBelow(zoneId, names) : await searchedBelow(trx, zoneId, names);
  const { rows } = await sql<Row>`
    select r.owner, r.type, r.ttl, r.rdata from (${owners}) o
      cross join lateral (
        select * from zone_records r where r.zone_id = ${zoneId} and r.owner = o.owner and not r.removed offset 0) r`.execute(
    trx,
  );
  return rows;
}

/** Selects the owners below the given names, with one scan of the zone per name, or one scan for many names. */
async function searchedBelow(
  trx: Database,
  zoneId: number,
  names: readonly Name[],
): Promise<RawBuilder<unknown>> {
  if (names.length > MOST_SEARCHED)
    return sql`select o as owner from unnest(${arrayOf('text', await findBelow(trx, zoneId, names))}) o`;
  const endings = names.map((name) => `.${encodeNameColumn(name)}`);
  return sql`select distinct r.owner from zone_records r
    where r.zone_id = ${zoneId} and not r.removed and exists (
      select from unnest(${arrayOf('text', endings)}) as e(ending)
      where right(r.owner, length(e.ending)) = e.ending
        and length(substring(left(r.owner, -length(e.ending)) from '\\\\*$')) % 2 = 0)`; // an escaped dot does not end a label
}

/** Returns the owners below the given names, in stored form. */
async function findBelow(trx: Database, zoneId: number, names: readonly Name[]): Promise<string[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zoneId} and not removed and type not in (46, 47, 50)`.execute(trx);
  const below = new Set(names);
  const found: string[] = [];
  for (const { owner } of rows) {
    for (let at = decodeNameColumn(owner); at !== ROOT; ) {
      at = parentOf(at);
      if (!below.has(at)) continue;
      found.push(owner);
      break;
    }
  }
  return found;
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
