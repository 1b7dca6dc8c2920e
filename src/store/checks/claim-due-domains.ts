// Claims domains that are due for a check: by account, least recent use first, and within each account by parent, so
// that neither an account nor a registry with a million names delays others. A claim extends the due time by a lease,
// so that a lost check becomes due again.

import { type RawBuilder, sql } from 'kysely';
import { LIGHT_SLOT_MS } from '../../checks/shares/turns.ts';
import type { Database } from '../postgres/database.ts';
import { FADED_SLOT_MS } from './check-shares.ts';

interface DueClaim {
  readonly limit: number;
  /** Maximum number of domains per account and parent. */
  readonly perParent: number;
  /** End of the last round. Undefined at the start. */
  readonly after: ClaimPlace | undefined;
  readonly leaseSeconds: number;
  /** Only domains of accounts with little recent use. */
  readonly lightOnly?: boolean;
}

/** An account and a parent, after which the next round starts. */
export interface ClaimPlace {
  readonly accountId: number;
  readonly parent: string;
}

interface ClaimedDomain {
  readonly id: number;
  readonly accountId: number;
  /** True if the domain was never checked. */
  readonly isFirst: boolean;
  readonly slotMs: number;
}

interface ClaimedDomains {
  readonly domains: readonly ClaimedDomain[];
  /** Start of the next round. */
  readonly after: ClaimPlace | undefined;
}

/** Number of pairs of account and parent that one round reads, due or not. */
const MAX_PLACES = 3000;
/** Number of accounts with domains that were never checked that one round reads, and of domains of each. */
const MAX_NEW_ACCOUNTS = 1000;
const NEW_PER_ACCOUNT = 10;

export async function claimDueDomains(db: Database, claim: DueClaim): Promise<ClaimedDomains> {
  const { rows } = await claimStatement(claim).execute(db);
  const { domains, after } = rows[0] as ClaimRow;
  return { domains: domains ?? [], after: after ?? undefined };
}

interface ClaimRow {
  readonly domains: ClaimedDomain[] | null;
  readonly after: ClaimPlace | null;
}

/**
 * Reads along the index (account_id, parent, due_at): the earliest row of each account and parent, then the due rows of
 * those that have any. Domains that were never checked come before these, from a separate index; the lightest accounts
 * first, one domain of each in turn. `perParent` is hidden from the planner: if the planner expects fewer due rows than
 * the limit, it reads and sorts all of them, which are many after an outage. A row that another process claimed
 * meanwhile is no longer due when its lock is obtained.
 */
export function claimStatement(claim: DueClaim): RawBuilder<ClaimRow> {
  const { limit, perParent, after, leaseSeconds, lightOnly = false } = claim;
  const firstBehind = (from: RawBuilder<unknown>) => sql`
    select c.account_id, c.parent, c.due_at from domain_checks c where c.due_at is not null and ${from}
    order by c.account_id, c.parent, c.due_at limit 1`;
  const start =
    after === undefined
      ? sql`true`
      : sql`(c.account_id, c.parent) > (${after.accountId}::bigint, ${after.parent}::text)`;
  const newBehind = (from: RawBuilder<unknown>) => sql`
    select c.account_id, c.due_at from domain_checks c
    where c.due_at is not null and c.last_run_id is null and ${from}
    order by c.account_id, c.due_at limit 1`;
  return sql<ClaimRow>`
    with recursive places as (
      select f.account_id, f.parent, f.due_at, 1 as number from (${firstBehind(start)}) f
      union all
      select f.account_id, f.parent, f.due_at, p.number + 1
      from places p cross join lateral (${firstBehind(sql`(c.account_id, c.parent) > (p.account_id, p.parent)`)}) f
      where p.number < ${MAX_PLACES}),
    new_accounts as (
      select f.account_id, f.due_at, 1 as number from (${newBehind(sql`true`)}) f
      union all
      select f.account_id, f.due_at, p.number + 1
      from new_accounts p cross join lateral (${newBehind(sql`c.account_id > p.account_id`)}) f
      where p.number < ${MAX_NEW_ACCOUNTS}),
    found as materialized (
      select a.account_id, due.id, true as is_first, due.turn
      from new_accounts a cross join lateral (
        select c.domain_id as id, row_number() over (order by c.due_at) as turn from domain_checks c
        where c.account_id = a.account_id and c.last_run_id is null and c.due_at <= now()
        order by c.due_at limit ${NEW_PER_ACCOUNT}) due
      where a.due_at <= now()
      union all
      select p.account_id, due.id, due.is_first, due.turn
      from places p cross join lateral (
        select c.domain_id as id, c.last_run_id is null as is_first, row_number() over (order by c.due_at) as turn
        from domain_checks c
        where c.account_id = p.account_id and c.parent = p.parent and c.due_at <= now()
        order by c.due_at limit (select ${perParent}::bigint)) due
      where p.due_at <= now()),
    ranked as materialized (
      select f.id, f.account_id, f.is_first, coalesce(s.slot_ms, 0) as slot_ms,
        row_number() over (partition by f.account_id order by f.is_first desc, f.turn, f.id) as turn
      from (select id, account_id, is_first, min(turn) as turn from found group by id, account_id, is_first) f
        left join lateral (
          select ${FADED_SLOT_MS} as slot_ms from check_shares s where s.account_id = f.account_id) s on true
      where not ${lightOnly}::boolean or coalesce(s.slot_ms, 0) < ${LIGHT_SLOT_MS}),
    wanted as materialized (
      select r.* from ranked r
      order by r.slot_ms >= ${LIGHT_SLOT_MS}, r.turn, r.slot_ms, r.id limit ${limit}),
    picked as materialized (
      select c.domain_id as id from domain_checks c
      where c.domain_id = any(array(select id from wanted)) and c.due_at <= now()
      for no key update skip locked),
    claimed as (
      update domain_checks set due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      where domain_id = any(array(select id from picked))
      returning domain_id as id)
    select (
        select json_agg(json_build_object('id', w.id, 'accountId', w.account_id, 'isFirst', w.is_first,
          'slotMs', w.slot_ms) order by w.slot_ms >= ${LIGHT_SLOT_MS}, w.turn, w.slot_ms, w.id)
        from claimed join wanted w on w.id = claimed.id) as domains,
      (select json_build_object('accountId', account_id, 'parent', parent) from places
        where number = ${MAX_PLACES}) as after`;
}

/** Makes the domain due again soon after a lost check, so that causing a check to fail does not delay the next one. */
export async function shortenLease(db: Database, domainId: number, seconds: number): Promise<void> {
  await sql`
    update domain_checks set due_at = least(due_at, clock_timestamp() + make_interval(secs => ${seconds}))
    where domain_id = ${domainId} and due_at is not null`.execute(db);
}
