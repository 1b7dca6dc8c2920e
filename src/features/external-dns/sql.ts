// Counts record sets, because one response contains all of them.

import { sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';

/** Counts the record sets of these types, without managed records. Stops above the limit. */
export async function countRecordSets(
  db: Database,
  domainIds: readonly number[],
  types: readonly ApiType[],
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from (
      select distinct r.domain_id, r.name, r.type from records r
      where r.domain_id = any(${domainIds}::bigint[]) and r.type = any(${types}::text[]) and not r.managed
      limit ${limit + 1}) s`.execute(db);
  return rows[0]?.count ?? 0;
}
