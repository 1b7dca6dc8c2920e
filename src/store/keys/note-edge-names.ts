// Notes that names of a signed zone have changed whose sets regions replace: workers sign the sets of regions for them. In the
// transaction that writes the names.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { isEdgeMark, type ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';

export async function noteEdgeNames(
  trx: Database,
  zoneId: number,
  written: ReadonlyMap<Name, readonly ZoneRecord[]>,
): Promise<void> {
  if ([...written.values()].some((records) => records.some(isEdgeMark))) await noteEdgeZone(trx, zoneId);
}

/** The zone may have such names. */
export async function noteEdgeZone(trx: Database, zoneId: number): Promise<void> {
  await sql`
    insert into edge_signings as e (zone_id, changed) values (${zoneId}, nextval('change_version'))
    on conflict (zone_id) do update set changed = excluded.changed`.execute(trx);
}

/** Signatures were made anew: if the zone has such names, those over the sets of regions are to be by the same keys. */
export async function noteSignedAnew(trx: Database, zoneId: number): Promise<void> {
  await sql`
    update edge_signings set changed = nextval('change_version') where zone_id = ${zoneId}`.execute(trx);
}
