// A fresh value for a domain whose own has expired. What is left of the time to prove it is left: a fresh value does not
// begin that again.

import { sql } from 'kysely';
import type { Database } from './database.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';
import { currentTime } from './lock-domain.ts';
import { tokenColumns } from './start-status.ts';
import { inTransaction } from './transaction.ts';

/** Whether it was renewed: of several at once one does it. */
export async function renewExpiredVerification(db: Database, domainId: number): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const { rows } = await sql`
      select from domains d where d.id = ${domainId} and ${IS_TO_BE_VERIFIED}
        and d.verification_expires_at <= clock_timestamp()
      for update of d`.execute(trx);
    if (rows.length === 0) return false;
    const now = await currentTime(trx);
    await trx
      .updateTable('domains')
      .set({ ...tokenColumns(now), txt_seq: sql<number>`txt_seq + 1`, updated_at: now })
      .where('id', '=', domainId)
      .execute();
    return true;
  });
}
