// Takes rows that are due, account by account: the account that has used the least of the workers lately goes first, so that
// one with thousands of due rows delays no other. A claim moves the due time by a lease, so that a row whose worker was lost
// is due again.

import { type RawBuilder, sql } from 'kysely';
import { LIGHT_SLOT_MS } from '../../checks/shares/turns.ts';
import type { Database } from '../postgres/database.ts';
import { FADED_SLOT_MS } from './check-shares.ts';

/** A table with `account_id` and `due_at`, and an index on both; its row is `v` in the other parts. */
interface DueTable {
  readonly table: RawBuilder<unknown>;
  /** The column that is given. */
  readonly id: RawBuilder<unknown>;
  readonly join: RawBuilder<unknown>;
  /** What else has to hold. */
  readonly isWanted: RawBuilder<unknown>;
  readonly leaseSeconds: number;
}

export interface DueClaim {
  readonly limit: number;
  /** The account where the last round ended; undefined is the beginning. */
  readonly after?: number | undefined;
  /** Only rows of accounts that have used little. */
  readonly lightOnly?: boolean;
}

export interface ClaimedInTurns {
  readonly rows: readonly { readonly id: number; readonly slotMs: number }[];
  /** Where the next round begins. */
  readonly after: number | undefined;
}

/** How many accounts one round looks at, due or not. */
const MAX_ACCOUNTS = 3000;

/**
 * Reads along the index (account_id, due_at): the first row of each account, which is its earliest, then the due rows of
 * those that have any. The limit for each account is hidden from the planner, as in `claimStatement` of delegation checks.
 */
export async function claimInTurns(
  db: Database,
  { table, id, join, isWanted, leaseSeconds }: DueTable,
  { limit, after = 0, lightOnly = false }: DueClaim,
): Promise<ClaimedInTurns> {
  const firstBehind = (account: RawBuilder<unknown>) => sql`
    select v.account_id, v.due_at from ${table} v
    where v.due_at is not null and v.account_id > ${account} order by v.account_id, v.due_at limit 1`;
  const { rows } = await sql<{ claimed: ClaimedInTurns['rows'] | null; after: number | null }>`
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
          select v.${id} as id, row_number() over (order by v.due_at) as turn
          from ${table} v ${join}
          where v.account_id = a.account_id and v.due_at <= now() and ${isWanted}
          order by v.due_at limit (select ${limit}::bigint)) due
        left join lateral (
          select ${FADED_SLOT_MS} as slot_ms from check_shares s where s.account_id = a.account_id) s on true
      where a.due_at <= now() and (not ${lightOnly}::boolean or coalesce(s.slot_ms, 0) < ${LIGHT_SLOT_MS})),
    wanted as materialized (
      select * from ranked order by slot_ms >= ${LIGHT_SLOT_MS}, turn, slot_ms, id limit ${limit}),
    picked as materialized (
      select v.${id} as id from ${table} v ${join}
      where v.${id} = any(array(select id from wanted)) and v.due_at <= now() and ${isWanted}
      for no key update of v skip locked),
    claimed as (
      update ${table} set due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      where ${id} = any(array(select id from picked))
      returning ${id} as id)
    select (
        select json_agg(json_build_object('id', w.id, 'slotMs', w.slot_ms)
          order by w.slot_ms >= ${LIGHT_SLOT_MS}, w.turn, w.slot_ms, w.id)
        from claimed join wanted w on w.id = claimed.id) as claimed,
      (select account_id from accounts where number = ${MAX_ACCOUNTS}) as after`.execute(db);
  const [row] = rows;
  return { rows: row?.claimed ?? [], after: row?.after ?? undefined };
}
