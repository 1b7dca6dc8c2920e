// Which version of a parent zone of ours brought the DS set that Postgres holds of a domain, or took it away. Until every node
// serves that version, some node shows the set of before.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';

/** Of a set that stands since before the zone's removed rows were forgotten: that time's. Undefined: the zone is gone. */
export async function loadHeldDsVersion(
  db: Database,
  zone: Name,
  domain: Name,
): Promise<{ zoneId: number; version: number } | undefined> {
  const { rows } = await sql<{ zoneId: number; version: number }>`
    select z.id as "zoneId", coalesce((
      select max(r.version) from zone_records r
      where r.zone_id = z.id and r.owner = ${encodeNameColumn(domain)} and r.type = any(${[TYPE.NS, TYPE.DS]}::integer[])),
      z.complete_since) as version
    from zones z where z.name = ${encodeNameColumn(zone)} and z.deleted_at is null`.execute(db);
  return rows[0];
}
