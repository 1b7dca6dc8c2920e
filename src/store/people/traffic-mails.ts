// Orders the mails about traffic that comes near what a plan includes: each once for a domain and a quota period, by the function
// `order_traffic_mail`.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface TrafficMail {
  readonly domainId: number;
  readonly periodStart: Date;
  /** Of what is included. The larger one takes the place of the smaller one. */
  readonly percent: number;
  readonly message: string;
}

/** False: it was told before, or there is nobody to tell. */
export async function orderTrafficMail(db: Database, mail: TrafficMail): Promise<boolean> {
  const { domainId, periodStart, percent, message } = mail;
  const { rows } = await sql<{ isOrdered: boolean }>`
    select order_traffic_mail(${domainId}::bigint, ${periodStart}::timestamptz, ${percent}::integer, ${message}::text)
      as "isOrdered"`.execute(db);
  return rows[0]?.isOrdered === true;
}

/** True for one worker in so many seconds: it looks at the traffic of all domains. */
export async function takeTrafficRound(db: Database, everySeconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update traffic_round set due_at = clock_timestamp() + make_interval(secs => ${everySeconds})
    where due_at <= clock_timestamp()`.execute(db);
  return numAffectedRows === 1n;
}
