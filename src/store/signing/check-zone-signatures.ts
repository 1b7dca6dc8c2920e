// Verifies the published records of a signed zone: its signatures and its chain of denial records. A fault is a bug in
// a writer, or signatures that were not renewed in time.

import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { findFaults } from '../../zone/signing/check-signed.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { loadZone } from '../zones/load-zones.ts';

/** Zones per round, and maximum records of each. */
const SAMPLE = 5;
const MOST_RECORDS = 5000;

export interface ZoneToVerify {
  readonly id: number;
  /** In stored form. */
  readonly name: string;
}

/** Returns the next served signed zones after this id, in the order of ids. Empty at the end. */
export async function zonesToVerify(db: Database, after: number): Promise<ZoneToVerify[]> {
  const { rows } = await sql<ZoneToVerify>`
    select s.id, z.name from signed_zones s left join domains d on d.id = s.domain_id
      join zones z on z.id = d.zone_id or (z.name = s.zone_name and z.kind = 'operator')
    where s.id > ${after} and s.phase not in ('signing', 'unsigning', 'off') and not s.verbatim
      and z.deleted_at is null and z.records <= ${MOST_RECORDS}
    order by s.id limit ${SAMPLE}`.execute(db);
  return rows;
}

/** Returns one line per fault, up to `most`. */
async function findSignatureFaults(
  apex: Name,
  records: Iterable<ZoneRecord>,
  { at, most }: { readonly at: number; readonly most: number },
): Promise<string[]> {
  const faults: string[] = [];
  for (const fault of findFaults(apex, records, at)) {
    if (fault === undefined) await setImmediate();
    else faults.push(fault.text);
    if (faults.length >= most) break;
  }
  return faults;
}

const MOST_FAULTS = 100;

/** Uses the database's time. Returns undefined if the zone does not exist. */
export async function checkZoneSignatures(db: Database, apex: Name): Promise<string[] | undefined> {
  const zone = await loadZone(db, apex);
  if (zone === undefined) return undefined;
  const { rows } = await sql<{ at: number }>`
    select floor(extract(epoch from clock_timestamp()))::float8 as at`.execute(db);
  const { at } = rows[0] as { at: number };
  return await findSignatureFaults(apex, zone.records, { at, most: MOST_FAULTS });
}

/** Does the same for a zone by name in stored form. */
export async function verifyZone(db: Database, { name }: ZoneToVerify): Promise<string[]> {
  return (await checkZoneSignatures(db, decodeNameColumn(name))) ?? [];
}
