// Makes a fresh value for a domain whose value has expired. The time to prove the domain does not begin again.

import { sql } from 'kysely';
import { setParts } from '../change/domain-parts.ts';
import { tokenColumns } from '../change/start-status.ts';
import { findingsWithout } from '../domains/findings-column.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { IS_TO_BE_VERIFIED, lockVerified } from './load-verified-domain.ts';

/** Gives whether the value was renewed: of several callers at once one renews it. */
export async function renewExpiredVerification(db: Database, domainId: number): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    await lockVerified(trx, domainId);
    const { rows } = await sql`
      select from domains d join domain_verifications v on v.domain_id = d.id
      where d.id = ${domainId} and ${IS_TO_BE_VERIFIED} and v.expires_at <= clock_timestamp()`.execute(trx);
    if (rows.length === 0) return false;
    const now = await currentTime(trx);
    await setParts(trx, domainId, {
      domain: { updated_at: now, findings: findingsWithout('TAKEOVER_WAITS') },
      verification: tokenColumns(now),
    });
    return true;
  });
}
