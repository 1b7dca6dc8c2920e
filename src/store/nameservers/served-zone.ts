// A zone that the fleet serves, to ask our own addresses for.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/** The oldest one, which every node has loaded; undefined when there is none. */
export async function loadServedZone(db: Database): Promise<Name | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from zones where deleted_at is null order by id limit 1`.execute(db);
  return rows[0] && decodeNameColumn(rows[0].name);
}
