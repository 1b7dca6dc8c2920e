// Orders the mails that remind owners of what they have to enter at the registrar for DNSSEC: one in 30 days for a domain, and 20 a
// day for an account, by the function `order_dnssec_reminder`.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** `message`: what to do. False: there were enough. */
export async function orderDnssecReminder(
  db: Database,
  { signedZoneId, message }: { readonly signedZoneId: number; readonly message: string },
): Promise<boolean> {
  const { rows } = await sql<{ isOrdered: boolean }>`
    select order_dnssec_reminder(${signedZoneId}::bigint, ${message}::text) as "isOrdered"`.execute(db);
  return rows[0]?.isOrdered === true;
}
