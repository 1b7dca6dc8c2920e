// Claims the calls of webhooks that are due, in turns of accounts: whoever has many receivers that take their time holds up nobody else.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

interface ClaimedDeliveries {
  readonly jobs: { readonly deliveryId: number }[];
  /** Where the next claim goes on; undefined: at the first account. */
  readonly after: number | undefined;
}

/** Longer than a job waits in the queue; then one that was lost is due again. */
const LEASE_SECONDS = 60;
/** How many calls of one account run or wait in the queue, of all workers together. */
const MOST_OF_ACCOUNT = 8;
/** How many accounts one claim looks at. */
const ACCOUNTS = 500;
const LOCK = 0x776562_686f6f6bn;

export async function claimDueDeliveries(db: Database, limit: number, after = 0): Promise<ClaimedDeliveries> {
  return await inTransaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(${LOCK.toString()}::bigint)`.execute(trx); // so that the counts are right
    const { rows } = await sql<{ id: number | null; last: number; accounts: number }>`
      with recursive turns as (
        (select account_id, 1 as n from webhook_deliveries where due_at is not null and account_id > ${after}
          order by account_id limit 1)
        union all
        select next.account_id, t.n + 1 from turns t cross join lateral (
          select account_id from webhook_deliveries where due_at is not null and account_id > t.account_id
          order by account_id limit 1) next
        where t.n < ${ACCOUNTS}),
      due as (
        select d.id, t.account_id, row_number() over (partition by t.account_id order by d.due_at) as turn,
          (select count(*) from webhook_deliveries c
            where c.account_id = t.account_id and c.claimed_until > clock_timestamp()) as claimed
        from turns t cross join lateral (
          select id, due_at from webhook_deliveries
          where account_id = t.account_id and due_at <= clock_timestamp()
          order by due_at limit ${MOST_OF_ACCOUNT}) d),
      chosen as (
        select id from due where turn + claimed <= ${MOST_OF_ACCOUNT} order by turn + claimed, account_id limit ${limit}),
      claimed as (
        update webhook_deliveries set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
          claimed_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
        where id in (select id from chosen) returning id)
      select c.id, s.last, s.accounts from (select max(account_id) as last, count(*)::integer as accounts from turns) s
      left join claimed c on true`.execute(trx);
    const [first] = rows;
    const jobs = rows.flatMap(({ id }) => (id === null ? [] : [{ deliveryId: id }]));
    return { jobs, after: first !== undefined && first.accounts >= ACCOUNTS ? first.last : undefined };
  });
}
