// How many invites were sent within a window of time, by what they are counted for. Counted in the transaction that makes the
// invite, so an invite that is not made does not count.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface CountRule {
  readonly limit: number;
  readonly hours: number;
}

const OF_DOMAIN: CountRule = { limit: 50, hours: 24 };
/** Over all domains of an account: domains are easily made. */
const OF_ACCOUNT: CountRule = { limit: 200, hours: 24 };
/** Beyond it an invite is made, and not mailed: whoever invites learns nothing of others who do. */
const TO_ADDRESS: CountRule = { limit: 3, hours: 1 };

/** Seconds to wait; undefined: it counts. */
export async function countInvite(
  trx: Database,
  domainId: number,
  accountId: number,
): Promise<number | undefined> {
  return (
    (await take(trx, `domain:${domainId}`, OF_DOMAIN)) ??
    (await take(trx, `account:${accountId}`, OF_ACCOUNT))
  );
}

/** False: the address has had enough mails with invites for now. */
export async function mayMailInvite(trx: Database, emailKey: string): Promise<boolean> {
  const digest = createHash('sha256').update(emailKey).digest('base64');
  return (await take(trx, `to:${digest}`, TO_ADDRESS)) === undefined;
}

/** The row is locked until the transaction ends. A window that ends too late is from before the clock went back. */
async function take(
  trx: Database,
  subject: string,
  { limit, hours }: CountRule,
): Promise<number | undefined> {
  const window = sql`make_interval(hours => ${hours}::integer)`;
  const isOver = sql`(w.ends_at <= clock_timestamp() or w.ends_at > clock_timestamp() + ${window})`;
  const { numAffectedRows } = await sql`
    insert into invite_windows as w (subject, count, ends_at) values (${subject}, 1, clock_timestamp() + ${window})
    on conflict (subject) do update set
      count = case when ${isOver} then 1 else w.count + 1 end,
      ends_at = case when ${isOver} then clock_timestamp() + ${window} else w.ends_at end
    where ${isOver} or w.count < ${limit}`.execute(trx);
  if (numAffectedRows === 1n) return undefined;
  const { rows } = await sql<{ seconds: number }>`
    select greatest(1, ceil(extract(epoch from ends_at - clock_timestamp())))::integer as seconds
    from invite_windows where subject = ${subject}`.execute(trx);
  return rows[0]?.seconds ?? 1;
}
