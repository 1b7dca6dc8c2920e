// Deletes what webhooks were told, a week after, and which receivers were called.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const RETENTION_DAYS = 7;
const BATCH_ROWS = 5000;

export async function purgeWebhooks(db: Database): Promise<void> {
  for (let deleted = BATCH_ROWS; deleted === BATCH_ROWS; ) {
    const { numAffectedRows } = await sql`
      delete from webhook_deliveries where id in (
        select id from webhook_deliveries
        where created_at < clock_timestamp() - make_interval(days => ${RETENTION_DAYS})
        order by created_at limit ${BATCH_ROWS} for update skip locked)`.execute(db);
    deleted = Number(numAffectedRows);
  }
  await sql`delete from webhook_calls where begun_at < clock_timestamp() - interval '5 minutes'`.execute(db);
}
