// The plan of a domain and its history: at most one subscription of a domain is active.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Null stays null, which means no plan. Undefined: there is no plan of this name. */
export async function findPlan(trx: Database, slug: string | null): Promise<number | null | undefined> {
  if (slug === null) return null;
  const plan = await trx.selectFrom('plans').select('id').where('slug', '=', slug).executeTakeFirst();
  return plan?.id;
}

export async function startSubscription(
  trx: Database,
  domainId: number,
  accountId: number,
  planId: number,
): Promise<void> {
  await sql`
    insert into subscriptions (domain_id, account_id, plan_id, status, quota_reset_days)
    select ${domainId}, ${accountId}, id, 'active', quota_reset_days from plans where id = ${planId}`.execute(
    trx,
  );
}

export async function stopSubscription(trx: Database, domainId: number): Promise<void> {
  await sql`
    update subscriptions set status = 'cancelled', expires_at = clock_timestamp()
    where domain_id = ${domainId} and status = 'active'`.execute(trx);
}
