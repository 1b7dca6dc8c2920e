// Deletes for good the domains whose time to be restored is over, with their records and their log.

import { sql } from 'kysely';
import { RESTORABLE_DAYS } from '../domains/domain.ts';
import type { Database } from '../postgres/database.ts';
import { allowLong } from '../postgres/deadlines.ts';

/** Deletes one domain at a time, so that a large one delays no other. */
export async function purgeDomains(db: Database): Promise<number> {
  for (let purged = 0; ; purged++) {
    const { numAffectedRows } = await db.transaction().execute(async (trx) => {
      await allowLong(trx);
      return await sql`
        delete from domains where id = (
          select id from domains
          where deleted_at < clock_timestamp() - make_interval(days => ${RESTORABLE_DAYS}::integer)
          order by deleted_at limit 1 for update skip locked)`.execute(trx);
    });
    if (numAffectedRows !== 1n) return purged;
  }
}
