// Loads operator zones from Postgres, whole, for the CLI's export and lists. Nodes follow the change feed instead.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

interface LoadedZone {
  version: number;
  records: ZoneRecord[];
}

/** Gives records in the order of owner and type, including marks. Undefined: there is no such zone. */
export async function loadZone(db: Database, apex: Name): Promise<LoadedZone | undefined> {
  // One statement, so that version and records come from one snapshot.
  const { rows } = await sql<{
    version: number;
    owner: string | null;
    type: number;
    ttl: number;
    rdata: Buffer;
  }>`
    select z.version, r.owner, r.type, r.ttl, r.rdata
    from zones z left join zone_records r on r.zone_id = z.id and not r.removed
    where z.name = ${encodeNameColumn(apex)} and z.deleted_at is null
    order by r.owner, r.type, r.rdata`.execute(db);
  const [first] = rows;
  if (first === undefined) return undefined;
  const records = rows.flatMap(({ owner, type, ttl, rdata }) =>
    owner === null ? [] : [{ owner: decodeNameColumn(owner), type, ttl, rdata }],
  );
  return { version: first.version, records };
}
