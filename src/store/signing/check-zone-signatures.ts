// Verifies the published records of a signed zone: its signatures and its chain of denial records. A fault is a bug in
// a writer, or signatures that were not renewed in time. Workers verify a large zone in pieces (check-large-zone.ts).

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { findFaults } from '../../zone/signing/check-signed.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { loadZone } from '../zones/load-zones.ts';
import { checkLargeZone, printFaults } from './check-large-zone.ts';

/** Zones per round, and maximum records of each. */
const SAMPLE = 5;
const MOST_RECORDS = 5000;

export interface ZoneToVerify {
  readonly id: number;
  /** In stored form. */
  readonly name: string;
}

/** Selects signed zones `s` that are served and whose signatures are complete, with their zone `z`. */
const VERIFIABLE = sql`signed_zones s left join domains d on d.id = s.domain_id
  join zones z on z.deleted_at is null and (z.id = d.zone_id or (z.name = s.zone_name and z.kind = 'operator'))
  where s.phase not in ('signing', 'unsigning', 'off') and not s.verbatim`;

/** Returns the next served signed zones after this id, in the order of ids. Empty at the end. */
export async function zonesToVerify(db: Database, after: number): Promise<ZoneToVerify[]> {
  const { rows } = await sql<ZoneToVerify>`
    select s.id, z.name from ${VERIFIABLE} and s.id > ${after} and z.records <= ${MOST_RECORDS}
    order by s.id limit ${SAMPLE}`.execute(db);
  return rows;
}

/** Uses the database's time. Returns undefined if the zone does not exist. */
export async function checkZoneSignatures(db: Database, apex: Name): Promise<string[] | undefined> {
  const zone = await loadZone(db, apex);
  if (zone === undefined) return undefined;
  const at = Math.floor((await currentTime(db)).getTime() / 1000);
  return await printFaults(findFaults(apex, zone.records, at));
}

/** Does the same for a zone by name in stored form, in pieces if the zone is large. */
export async function verifyZone(db: Database, { id, name }: ZoneToVerify): Promise<string[]> {
  const apex = decodeNameColumn(name);
  const { rows } = await sql<{ id: number }>`
    select id from zones where name = ${name} and deleted_at is null and records > ${MOST_RECORDS}`.execute(
    db,
  );
  const [large] = rows;
  if (large === undefined) return (await checkZoneSignatures(db, apex)) ?? [];
  const faults = await checkLargeZone(db, { id: large.id, apex });
  // The zone may have been deleted or unsigned during the check.
  return faults.length > 0 && (await isVerifiable(db, id)) ? faults : [];
}

async function isVerifiable(db: Database, signedId: number): Promise<boolean> {
  const { rows } = await sql`select from ${VERIFIABLE} and s.id = ${signedId}`.execute(db);
  return rows.length > 0;
}
