// How many domains an account may have, and how many of them may wait to be proved: its plan says so.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** The limit of an account without a plan: an operator who takes the plan away does not lift the limit. */
const DOMAINS_WITHOUT_PLAN = 100;
const CLAIMS_WITHOUT_PLAN = 100;

export interface AccountRoom {
  readonly planId: number | null;
  readonly domains: number;
  readonly limit: number;
  /** Its domains that wait. */
  readonly claims: number;
  readonly claimLimit: number;
  /** It registered itself, and neither had a trial nor a domain. */
  readonly mayTry: boolean;
}

/**
 * Locks the account until the transaction ends, so that two creates at once do not pass its limit. The holder of the
 * lock waits for names after it, and no transaction waits in the other order.
 */
export async function lockAccount(trx: Database, accountId: number): Promise<AccountRoom | undefined> {
  const { rows } = await sql<{
    planId: number | null;
    maxDomains: number | null;
    maxClaims: number | null;
    isNew: boolean;
  }>`
    select a.plan_id as "planId", p.max_domains as "maxDomains", p.max_claims as "maxClaims",
      a.self_registered and a.trial_at is null as "isNew"
    from accounts a left join plans p on p.id = a.plan_id
    where a.id = ${accountId} for no key update of a`.execute(trx);
  const [row] = rows;
  if (row === undefined) return undefined;
  // A statement of its own: it sees what the holder of the lock before us has saved.
  const counted = await sql<{ domains: number; claims: number }>`
    select count(*)::integer as domains,
      count(*) filter (where status in ('pending', 'unverified'))::integer as claims from domains
    where account_id = ${accountId} and deleted_at is null`.execute(trx);
  const limit = row.planId === null ? DOMAINS_WITHOUT_PLAN : (row.maxDomains ?? Number.POSITIVE_INFINITY);
  const claimLimit = row.planId === null ? CLAIMS_WITHOUT_PLAN : (row.maxClaims ?? Number.POSITIVE_INFINITY);
  const { domains, claims } = counted.rows[0] as { domains: number; claims: number };
  const mayTry = row.isNew && !(await hasHadDomain(trx, accountId));
  return { planId: row.planId, limit, domains, claimLimit, claims, mayTry };
}

/**
 * Returns the room of an account to whose new domain no limit applies. Nothing is locked, so an operator can create many domains
 * of one account concurrently.
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

/** Deleted ones too. */
async function hasHadDomain(trx: Database, accountId: number): Promise<boolean> {
  const { rows } = await sql`select from domains where account_id = ${accountId} limit 1`.execute(trx);
  return rows.length > 0;
}

/** Undefined: the account has room for one more domain that waits. `limit`: by default the plan's number. */
export function refuseClaim(
  { claims, claimLimit }: Pick<AccountRoom, 'claims' | 'claimLimit'>,
  limit = claimLimit,
): { readonly limit: number; readonly message: string } | undefined {
  if (claims < limit) return undefined;
  return { limit, message: `an account may have ${limit} domains that wait to be proved` };
}
