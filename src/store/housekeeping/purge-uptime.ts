// Deletes incidents that nobody can ask for any more, and suspicions that nothing followed.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Periods are 30 days at most. */
const RETENTION_DAYS = 90;
const BATCH_ROWS = 5000;

export async function purgeUptime(db: Database): Promise<void> {
  for (let deleted = BATCH_ROWS; deleted === BATCH_ROWS; ) {
    const { numAffectedRows } = await sql`
      delete from uptime_incidents where id in (
        select id from uptime_incidents
        where started_at < clock_timestamp() - make_interval(days => ${RETENTION_DAYS}) and ended_at is not null
        order by started_at limit ${BATCH_ROWS} for update skip locked)`.execute(db);
    deleted = Number(numAffectedRows);
  }
  // a window is an hour at most: after a day of silence nothing follows from what was before
  await sql`
    delete from uptime_states where state->>'kind' = 'run'
      and judged < extract(epoch from clock_timestamp()) / 60 - 1440`.execute(db);
}
