// Limits of an account's plan: the number of domains, and how many of them may be unverified.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inOneTrip } from '../postgres/pool-driver.ts';

/** Limits of an account without a plan. Removing the plan does not remove the limits. */
const DOMAINS_WITHOUT_PLAN = 100;
const CLAIMS_WITHOUT_PLAN = 100;

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

/**
 * Locks the account until the transaction ends, so that two concurrent creates cannot exceed its limit. The lock holder
 * takes the locks of names afterwards. No transaction takes them in the opposite order.
 */
export async function lockAccount(trx: Database, accountId: number): Promise<AccountRoom | undefined> {
  const trip = inOneTrip(trx);
  const locked = sql<{
    planId: number | null;
    maxDomains: number | null;
    maxClaims: number | null;
    isNew: boolean;
  }>`
    select a.plan_id as "planId", p.max_domains as "maxDomains", p.max_claims as "maxClaims",
      a.self_registered and a.trial_at is null as "isNew"
    from accounts a left join plans p on p.id = a.plan_id
    where a.id = ${accountId} for no key update of a`.execute(trip);
  // A separate statement, so that it sees what the previous lock holder committed.
  const count = sql<{ domains: number; claims: number }>`
    select count(*)::integer as domains,
      count(*) filter (where status in ('pending', 'unverified'))::integer as claims from domains
    where account_id = ${accountId} and deleted_at is null`.execute(trip);
  const [
    {
      rows: [row],
    },
    counted,
  ] = await Promise.all([locked, count]);
  if (row === undefined) return undefined;
  const limit = row.planId === null ? DOMAINS_WITHOUT_PLAN : (row.maxDomains ?? Number.POSITIVE_INFINITY);
  const claimLimit = row.planId === null ? CLAIMS_WITHOUT_PLAN : (row.maxClaims ?? Number.POSITIVE_INFINITY);
  const { domains, claims } = counted.rows[0] as { domains: number; claims: number };
  const mayTry = row.isNew && !(await hasHadDomain(trx, accountId));
  return { planId: row.planId, limit, domains, claimLimit, claims, mayTry };
}

/**
 * Returns the limits of an account to whose new domain no limit applies. Locks nothing, so an operator can create many
 * domains of one account concurrently.
 */
export async function loadUnlimitedRoom(trx: Database, accountId: number): Promise<AccountRoom | undefined> {
  const account = await trx
    .selectFrom('accounts')
    .select('plan_id')
    .where('id', '=', accountId)
    .executeTakeFirst();
  const unlimited = Number.POSITIVE_INFINITY;
  return (
    account && {
      planId: account.plan_id,
      domains: 0,
      limit: unlimited,
      claims: 0,
      claimLimit: unlimited,
      mayTry: false,
    }
  );
}

/** Includes deleted domains. */
async function hasHadDomain(trx: Database, accountId: number): Promise<boolean> {
  const { rows } = await sql`select from domains where account_id = ${accountId} limit 1`.execute(trx);
  return rows.length > 0;
}

/** Returns undefined if the account may have one more unverified domain. `limit` defaults to the plan's limit. */
export function refuseClaim(
  { claims, claimLimit }: Pick<AccountRoom, 'claims' | 'claimLimit'>,
  limit = claimLimit,
): { readonly limit: number; readonly message: string } | undefined {
  if (claims < limit) return undefined;
  return { limit, message: `an account may have at most ${limit} domains that are not yet proved` };
}
