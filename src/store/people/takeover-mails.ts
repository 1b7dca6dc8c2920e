// Orders the mails that warn whoever holds a name when another account is about to take it (docs/rules.md "Takeovers"). Whoever controls
// a delegation can begin that as often as they like, so the mails of a domain and of an account are bounded, by the function
// `order_takeover_mails`.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/**
 * Call it in the transaction that begins the occurrence, under `lockNamesAround`. `message`: the finding's sentence. False: there were
 * enough within a day.
 */
export async function orderTakeoverMails(
  trx: Database,
  { domainId, message }: { readonly domainId: number; readonly message: string },
): Promise<boolean> {
  const { rows } = await sql<{ isOrdered: boolean }>`
    select order_takeover_mails(${domainId}::bigint, ${message}::text) as "isOrdered"`.execute(trx);
  return rows[0]?.isOrdered === true;
}
