// Limits of an account's plan: the number of domains, and how many of them may be unverified.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';

/** Limits of an account without a plan. Removing the plan does not remove the limits. */
const DOMAINS_WITHOUT_PLAN = sql.lit(100);
const CLAIMS_WITHOUT_PLAN = sql.lit(100);

export interface AccountRoom {
  readonly planId: number | null;
  readonly domains: number;
  readonly limit: number;
  /** Domains that are pending or unverified. */
  readonly claims: number;
  readonly claimLimit: number;
  /** True if the account registered itself and has had neither a trial nor a domain. */
  readonly mayTry: boolean;
}

export interface RoomJson extends Omit<AccountRoom, 'limit' | 'claimLimit'> {
  /** Null if unlimited. */
  readonly limit: number | null;
  readonly claimLimit: number | null;
}

/**
 * Locks the account until the transaction ends, so that two concurrent creates cannot exceed its limit. The lock holder
 * takes the locks of names afterwards. No transaction takes them in the opposite order.
 */
export async function lockAccount(trx: Database, accountId: number): Promise<AccountRoom | undefined> {
  await lockRoom(trx, accountId);
  // A separate statement, so that it sees what the previous lock holder committed.
  const { rows } = await sql<{ room: RoomJson | null }>`
    select ${roomOf(sql`${accountId}`, { countsAll: true })} as room`.execute(trx);
  return decodeRoom(rows[0]?.room ?? null);
}

/** Takes the same lock together with the next statement, which can select `roomOf`. */
export async function lockRoom(trx: Database, accountId: number): Promise<void> {
  await sendWithNext(trx, sql`select from accounts where id = ${accountId} for no key update`);
}

/**
 * Selects `RoomJson`; null if there is no account. Domains and claims are counted up to their limit, and not at all if
 * they have none, unless `countsAll` is set. `claimLimit` replaces that of the plan.
 */
export function roomOf(
  accountId: RawBuilder<unknown>,
  {
    countsAll = false,
    claimLimit,
  }: { readonly countsAll?: boolean; readonly claimLimit?: number | undefined } = {},
): RawBuilder<RoomJson | null> {
  const count = (condition: RawBuilder<unknown>, limit: RawBuilder<unknown>) => {
    const domains = sql`select from domains d where d.account_id = a.id and d.deleted_at is null${condition}`;
    if (countsAll) return sql`(select count(*) from (${domains}) d)`;
    return sql`case when ${limit} is null then 0 else (select count(*) from (${domains} limit ${limit}) d) end`;
  };
  return sql`(
    select json_build_object('planId', a.plan_id, 'limit', l.domains, 'claimLimit', l.claims,
      'domains', ${count(sql``, sql`l.domains`)},
      'claims', ${count(sql` and d.status in ('pending', 'unverified')`, sql`l.claims`)},
      'mayTry', a.self_registered and a.trial_at is null
        and not exists (select from domains d where d.account_id = a.id))
    from accounts a left join plans p on p.id = a.plan_id cross join lateral (
      select case when p.id is null then ${DOMAINS_WITHOUT_PLAN} else p.max_domains end as domains,
        coalesce(${claimLimit ?? null}::integer, case when p.id is null then ${CLAIMS_WITHOUT_PLAN} else p.max_claims end)
          as claims
      offset 0) l
    where a.id = ${accountId})`;
}

/** Selects the same for an account to whose new domain no limit applies. */
export function unlimitedRoomOf(accountId: RawBuilder<unknown>): RawBuilder<RoomJson | null> {
  return sql`(
    select json_build_object('planId', a.plan_id, 'limit', null, 'claimLimit', null, 'domains', 0, 'claims', 0, 'mayTry', false)
    from accounts a where a.id = ${accountId})`;
}

export function decodeRoom(json: RoomJson | null): AccountRoom | undefined {
  const { limit = null, claimLimit = null } = json ?? {};
  const unlimited = Number.POSITIVE_INFINITY;
  return json === null
    ? undefined
    : { ...json, limit: limit ?? unlimited, claimLimit: claimLimit ?? unlimited };
}

/** Returns undefined if the account may have one more unverified domain. `limit` defaults to the plan's limit. */
export function refuseClaim(
  { claims, claimLimit }: Pick<AccountRoom, 'claims' | 'claimLimit'>,
  limit = claimLimit,
): { readonly limit: number; readonly message: string } | undefined {
  if (claims < limit) return undefined;
  return { limit, message: `an account may have at most ${limit} domains that are not yet proved` };
}
