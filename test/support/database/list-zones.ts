// Stored zones in a form for comparisons.

import type { Name } from '../../../src/dns/name.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { decodeNameColumn } from '../../../src/store/postgres/name-column.ts';

interface ListedZone {
  apex: Name;
  version: number;
  records: number;
}

/** Lists all served zones, in the order of their names' text. */
export async function listZones(db: Database): Promise<ListedZone[]> {
  const rows = await db
    .selectFrom('zones')
    .select(['name', 'version', 'records'])
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .execute();
  return rows.map(({ name, version, records }) => ({ apex: decodeNameColumn(name), version, records }));
}
