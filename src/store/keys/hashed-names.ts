// Names of zones with NSEC3, with their characters reversed, so that the names below a name are one range of the index.
// Hashes do not show which names are below a name, and owners sort from their first label.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { isMade } from '../../zone/signing/signed-types.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';

/** Records at the changed names. A name with records exists. */
type Wanted = ReadonlyMap<Name, readonly ZoneRecord[]>;

/** Records which names are added and removed. With `isWhole`, the zone has no other names. */
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
    await sendWithNext(trx, sql`delete from hashed_names where zone_id = ${zoneId} ${stays}`);
  if (there.length === 0) return;
  const inserted = sql`
    insert into hashed_names (zone_id, reversed)
    select ${zoneId}::bigint, reverse(o) from unnest(${arrayOf('text', there)}) o on conflict do nothing`;
  await sendWithNext(trx, inserted);
}

/** Records the names that the zone has now. */
export async function notePresentNames(db: Database, zoneId: number): Promise<void> {
  await sql`delete from hashed_names where zone_id = ${zoneId}`.execute(db);
  await sql`
    insert into hashed_names (zone_id, reversed)
    select distinct zone_id, reverse(owner) from zone_records
    where zone_id = ${zoneId} and not removed and type not in (46, 47, 50) on conflict do nothing`.execute(
    db,
  );
}

/** Deletes up to `most` names of a zone that no longer has NSEC3. Returns how many it deleted. */
export async function forgetNames(trx: Database, zoneId: number, most: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from hashed_names where zone_id = ${zoneId} and reversed in (
      select reversed from hashed_names where zone_id = ${zoneId} limit ${most})`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

/** A dot after an odd number of backslashes is escaped and does not end a label. */
const ENDS_LABEL = sql`length(substring(substr(h.reversed, length(e.reversed) + 2) from '^\\\\*')) % 2 = 0`;

const BELOW = sql`h.reversed >= e.reversed || '.' and h.reversed < e.reversed || '/' and ${ENDS_LABEL}`;

const endings = (names: readonly Name[]) =>
  sql`(select reverse(n) as reversed from unnest(${arrayOf('text', names.map(encodeNameColumn))}) n) e`;

/** Selects the owners of all records below these names. */
export function ownersBelow(zoneId: number, names: readonly Name[]): RawBuilder<unknown> {
  return sql`select distinct reverse(h.reversed) as owner from ${endings(names)}
    cross join lateral (select h.reversed from hashed_names h where h.zone_id = ${zoneId} and ${BELOW} offset 0) h`;
}

/** Selects one record for each of these names that has records below it, ignoring the names in `others`. */
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
