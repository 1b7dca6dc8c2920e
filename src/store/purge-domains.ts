// Forgets domains that were deleted so long ago that nobody can restore them, with their records and their log.

import { sql } from 'kysely';
import type { Database } from './database.ts';
import { allowLong } from './deadlines.ts';
import { RESTORABLE_DAYS } from './domain.ts';

/** One at a time: a large one holds nobody else up. */
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
