// Finds the hand-over of a domain in the audit log, beside each row that is read: what was before it is shown without addresses.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index audit_log_moves on audit_log (domain_id, id) where action = 'domain.move'`.execute(
    db,
  );
}
