// Deletes tickets that were closed long ago, with what was written into them.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const KEPT_DAYS = 400;

export async function purgeTickets(db: Database): Promise<void> {
  await sql`
    delete from tickets
    where status = 'closed' and updated_at < clock_timestamp() - make_interval(days => ${KEPT_DAYS})`.execute(
    db,
  );
}
