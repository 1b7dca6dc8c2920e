// Takes domains whose TXT record is due to be looked for: account by account, the one that has used the least of the workers
// lately first, so that an account with thousands of unproved domains delays no other. A claim moves the due time by a
// lease, so that one whose worker was lost is due again.

import { sql } from 'kysely';
import { LIGHT_SLOT_MS } from '../../checks/shares/turns.ts';
import { FADED_SLOT_MS } from '../checks/check-shares.ts';
import type { Database } from '../postgres/database.ts';
import { IS_TO_BE_VERIFIED } from './load-verified-domain.ts';

interface DueClaim {
  readonly limit: number;
  /** The account where the last round ended; undefined is the beginning. */
  readonly after?: number | undefined;
  /** Only domains of accounts that have used little. */
  readonly lightOnly?: boolean;
}

interface ClaimedVerifications {
  readonly domains: readonly { readonly id: number; readonly slotMs: number }[];
  /** Where the next round begins. */
  readonly after: number | undefined;
}

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 120;
/** How many accounts one round looks at, due or not. */
const MAX_ACCOUNTS = 3000;

/**
 * Reads along the index (account_id, due_at): the first row of each account, which is its earliest, then the due rows of
 * those that have any. The limit for each account is hidden from the planner, as in `claimStatement` of delegation checks.
 */
export async function claimDueVerifications(
  db: Database,
  { limit, after = 0, lightOnly = false }: DueClaim,
): Promise<ClaimedVerifications> {
  const firstBehind = (account: ReturnType<typeof sql>) => sql`
    select v.account_id, v.due_at from domain_verifications v
    where v.due_at is not null and v.account_id > ${account} order by v.account_id, v.due_at limit 1`;
  const { rows } = await sql<{ domains: ClaimedVerifications['domains'] | null; after: number | null }>`
    with recursive accounts as (
      select f.account_id, f.due_at, 1 as number from (${firstBehind(sql`${after}::bigint`)}) f
      union all
      select f.account_id, f.due_at, a.number + 1
      from accounts a cross join lateral (${firstBehind(sql`a.account_id`)}) f
      where a.number < ${MAX_ACCOUNTS}),
    ranked as materialized (
      select due.id, due.turn, coalesce(s.slot_ms, 0) as slot_ms
      from accounts a
        cross join lateral (
          select v.domain_id as id, row_number() over (order by v.due_at) as turn
          from domain_verifications v join domains d on d.id = v.domain_id
          where v.account_id = a.account_id and v.due_at <= now() and ${IS_TO_BE_VERIFIED}
          order by v.due_at limit (select ${limit}::bigint)) due
        left join lateral (
          select ${FADED_SLOT_MS} as slot_ms from check_shares s where s.account_id = a.account_id) s on true
      where a.due_at <= now() and (not ${lightOnly}::boolean or coalesce(s.slot_ms, 0) < ${LIGHT_SLOT_MS})),
    wanted as materialized (
      select * from ranked order by slot_ms >= ${LIGHT_SLOT_MS}, turn, slot_ms, id limit ${limit}),
    picked as materialized (
      select v.domain_id as id from domain_verifications v join domains d on d.id = v.domain_id
      where v.domain_id = any(array(select id from wanted)) and v.due_at <= now() and ${IS_TO_BE_VERIFIED}
      for no key update of v skip locked),
    claimed as (
      update domain_verifications set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      where domain_id = any(array(select id from picked))
      returning domain_id as id)
    select (
        select json_agg(json_build_object('id', w.id, 'slotMs', w.slot_ms)
          order by w.slot_ms >= ${LIGHT_SLOT_MS}, w.turn, w.slot_ms, w.id)
        from claimed join wanted w on w.id = claimed.id) as domains,
      (select account_id from accounts where number = ${MAX_ACCOUNTS}) as after`.execute(db);
  const [row] = rows;
  return { domains: row?.domains ?? [], after: row?.after ?? undefined };
}
