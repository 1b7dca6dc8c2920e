// Takes domains whose check is due, parent by parent, so that a registry with a million names delays no other. A claim
// moves the due time by a lease, so that a check that was lost is due again.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface DueClaim {
  readonly limit: number;
  /** The most domains of one parent. */
  readonly perParent: number;
  /** Where the last round ended; '' is the beginning. */
  readonly after: string;
  readonly leaseSeconds: number;
}

interface ClaimedDomains {
  readonly domains: readonly { readonly id: number }[];
  /** Where the next round begins. */
  readonly after: string;
}

/** How many parents one round looks at, due or not. */
const MAX_PARENTS = 3000;

export async function claimDueDomains(db: Database, claim: DueClaim): Promise<ClaimedDomains> {
  const { rows } = await claimStatement(claim).execute(db);
  const { ids, after } = rows[0] as ClaimRow;
  return { domains: (ids ?? []).map((id) => ({ id })), after: after ?? '' };
}

interface ClaimRow {
  readonly ids: number[] | null;
  readonly after: string | null;
}

/**
 * Reads along the index (parent, due_at): the first row of each parent, which is its earliest, then the due rows
 * of the parents that have any. The recursion stops when enough rows are found. Domains that are locked are left to a
 * later round. `perParent` is hidden from the planner: if it believes that a parent has fewer due rows than the limit,
 * it reads and sorts all of them, which are many after an outage.
 */
export function claimStatement({ limit, perParent, after, leaseSeconds }: DueClaim): RawBuilder<ClaimRow> {
  const firstBehind = (from: RawBuilder<unknown>) => sql`
    select c.parent, c.due_at from domain_checks c where c.due_at is not null and ${from}
    order by c.parent, c.due_at limit 1`;
  const start = after === '' ? sql`true` : sql`c.parent > ${after}`;
  return sql<ClaimRow>`
    with recursive parents as (
      select f.parent, f.due_at, 1 as number from (${firstBehind(start)}) f
      union all
      select f.parent, f.due_at, p.number + 1
      from parents p cross join lateral (${firstBehind(sql`c.parent > p.parent`)}) f
      where p.number < ${MAX_PARENTS}),
    picked as materialized (
      select p.parent, due.id
      from parents p cross join lateral (
        select c.domain_id as id from domain_checks c where c.parent = p.parent and c.due_at <= now()
        order by c.due_at limit (select ${perParent}::bigint) for no key update skip locked) due
      where p.due_at <= now() limit ${limit}),
    claimed as (
      update domain_checks set due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      where domain_id = any(array(select id from picked))
      returning domain_id as id)
    select (select json_agg(id) from claimed) as ids,
      case when (select count(*) from picked) >= ${limit} then (select max(parent) from picked)
        else (select parent from parents where number = ${MAX_PARENTS}) end as after`;
}
