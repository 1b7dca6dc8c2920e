// Whether what nodes are given for a signed zone holds together: its signatures, and its ring of denials. A fault is a bug of a
// writer, or signatures that were not made anew in time.

import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { findFaults } from '../../zone/signing/check-signed.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { loadZone } from '../zones/load-zones.ts';

/** Zones that one round looks at, and the most records of each. */
const SAMPLE = 5;
const MOST_RECORDS = 5000;

export interface ZoneToVerify {
  readonly id: number;
  /** As stored. */
  readonly name: string;
}

/** The next signed zones after this id that are served, in the order of ids; an empty list means the end. */
export async function zonesToVerify(db: Database, after: number): Promise<ZoneToVerify[]> {
  const { rows } = await sql<ZoneToVerify>`
    select s.id, z.name from signed_zones s left join domains d on d.id = s.domain_id
      join zones z on z.id = d.zone_id or (z.name = s.zone_name and z.kind = 'operator')
    where s.id > ${after} and s.phase not in ('signing', 'unsigning', 'off') and not s.verbatim
      and z.deleted_at is null and z.records <= ${MOST_RECORDS}
    order by s.id limit ${SAMPLE}`.execute(db);
  return rows;
}

/** One line for each fault; at most `most`. */
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

/** By the clock of Postgres. Undefined: there is no such zone. */
export async function checkZoneSignatures(db: Database, apex: Name): Promise<string[] | undefined> {
  const zone = await loadZone(db, apex);
  if (zone === undefined) return undefined;
  const { rows } = await sql<{ at: number }>`
    select floor(extract(epoch from clock_timestamp()))::float8 as at`.execute(db);
  const { at } = rows[0] as { at: number };
  return await findSignatureFaults(apex, zone.records, { at, most: MOST_FAULTS });
}

/** The same of a zone as stored. */
export async function verifyZone(db: Database, { name }: ZoneToVerify): Promise<string[]> {
  return (await checkZoneSignatures(db, decodeNameColumn(name))) ?? [];
}
