// Deletes top-ups that nobody paid. Those that were paid stay, as what they are in the ledger does.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Long after they are open no more: a transfer by bank takes days. */
const KEPT_DAYS = 90;

export async function purgePayments(db: Database): Promise<void> {
  await sql`
    delete from payments
    where paid_at is null and expires_at < clock_timestamp() - make_interval(days => ${KEPT_DAYS})`.execute(
    db,
  );
}
