// The names of zones with NSEC3, from their last label: what lies below a name is a range of the index, while hashes do not
// tell it and Postgres sorts owners from their first label.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { isMade } from '../../zone/signing/signed-types.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';

/** What stands at names after a change: with records a name is there. */
type Wanted = ReadonlyMap<Name, readonly ZoneRecord[]>;

/** Notes which names come and which go. With `isWhole` the zone has no others. */
export async function noteNames(
  trx: Database,
  zoneId: number,
  wanted: Wanted,
  isWhole: boolean,
): Promise<void> {
  const there: string[] = [];
  const gone: string[] = [];
  for (const [name, records] of wanted)
    (records.some(({ type }) => !isMade(type)) ? there : gone).push(encodeNameColumn(name));
  const stays = isWhole
    ? sql``
    : sql`and reversed in (select reverse(o) from unnest(${arrayOf('text', gone)}) o)`;
  if (isWhole || gone.length > 0)
    await sql`delete from hashed_names where zone_id = ${zoneId} ${stays}`.execute(trx);
  if (there.length === 0) return;
  await sql`
    insert into hashed_names (zone_id, reversed)
    select ${zoneId}::bigint, reverse(o) from unnest(${arrayOf('text', there)}) o on conflict do nothing`.execute(
    trx,
  );
}

/** Those that stand in the zone now. */
export async function noteStandingNames(db: Database, zoneId: number): Promise<void> {
  await sql`delete from hashed_names where zone_id = ${zoneId}`.execute(db);
  await sql`
    insert into hashed_names (zone_id, reversed)
    select distinct zone_id, reverse(owner) from zone_records
    where zone_id = ${zoneId} and not removed and type not in (46, 47, 50) on conflict do nothing`.execute(
    db,
  );
}

/** Of a zone that has no NSEC3 any more, so many at most; gives how many went. */
export async function forgetNames(trx: Database, zoneId: number, most: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from hashed_names where zone_id = ${zoneId} and reversed in (
      select reversed from hashed_names where zone_id = ${zoneId} limit ${most})`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

/** A dot before which an odd number of backslashes stands is escaped, and ends no label. */
const ENDS_LABEL = sql`length(substring(substr(h.reversed, length(e.reversed) + 2) from '^\\\\*')) % 2 = 0`;

const BELOW = sql`h.reversed >= e.reversed || '.' and h.reversed < e.reversed || '/' and ${ENDS_LABEL}`;

const endings = (names: readonly Name[]) =>
  sql`(select reverse(n) as reversed from unnest(${arrayOf('text', names.map(encodeNameColumn))}) n) e`;

/** The owners of all that lies below one of these names. */
export function ownersBelow(zoneId: number, names: readonly Name[]): RawBuilder<unknown> {
  return sql`select distinct reverse(h.reversed) as owner from ${endings(names)}
    cross join lateral (select h.reversed from hashed_names h where h.zone_id = ${zoneId} and ${BELOW} offset 0) h`;
}

/** One record for each of these names that has any below it, but at the names `others`. */
export function recordsBelow(
  zoneId: number,
  names: readonly Name[],
  others: Iterable<Name>,
): RawBuilder<unknown> {
  const left = [...others].map(encodeNameColumn);
  return sql`select r.owner, r.type, r.ttl, r.rdata from ${endings(names)}
    cross join lateral (
      select r.* from hashed_names h cross join lateral (
        select * from zone_records r
        where r.zone_id = h.zone_id and r.owner = reverse(h.reversed) and not r.removed
          and r.type not in (46, 47, 50) limit 1) r
      where h.zone_id = ${zoneId} and ${BELOW}
        and h.reversed not in (select reverse(o) from unnest(${arrayOf('text', left)}) o)
      limit 1) r`;
}
