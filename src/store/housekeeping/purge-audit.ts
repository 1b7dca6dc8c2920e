// Deletes rows of the audit log that are older than 400 days, some at a time.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const KEPT_DAYS = 400;
const ROWS = 5000;

/** True: there may be more to delete at once. */
export async function purgeAudit(db: Database, rows = ROWS): Promise<boolean> {
  // The oldest have the lowest ids: when nothing is old, one page of the index is read.
  const { numAffectedRows } = await sql`
    delete from audit_log where id = any(array(
      select o.id from (select id, at from audit_log order by id limit ${rows}) o
      where o.at < clock_timestamp() - make_interval(days => ${KEPT_DAYS}::integer)))`.execute(db);
  return Number(numAffectedRows ?? 0n) === rows;
}
