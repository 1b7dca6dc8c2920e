// Makes a fresh value for a domain whose value has expired. The time to prove the domain does not begin again.

import { sql } from 'kysely';
import { currentTime } from '../change/lock-domain.ts';
import { tokenColumns } from '../change/start-status.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';

/** Gives whether the value was renewed: of several callers at once one renews it. */
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
