// Takes scans that are due: those of new domains, and those whose job or worker was lost. Accounts take turns: an
// account with ten thousand domains delays no other. A claim takes a scan from the worker that had it and moves its
// time by a lease, so that a scan that was lost is due again.

import { sql } from 'kysely';
import { MOST_SCANS, scanTurn } from '../../checks/shares/turns.ts';
import type { Database } from '../postgres/database.ts';

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 300;

/**
 * Reads along the index (account_id, due_at): the accounts that have due scans, how many scans of each are running, and
 * the first due ones of each; then those with the fewest running come first. Rows are locked at the end, since a query
 * with window functions cannot lock. The limit for each account is hidden from the planner: if it believes that an
 * account has few due rows, it reads and sorts all of them.
 */
export async function claimDueScans(
  db: Database,
  limit: number,
): Promise<{ scanId: number; turn: number }[]> {
  const { rows } = await sql<{ scanId: number; inHand: number }>`
    with recursive owners as (
      (select account_id as id from scans where due_at is not null order by account_id limit 1)
      union all
      select (select s.account_id from scans s where s.due_at is not null and s.account_id > a.id
        order by s.account_id limit 1)
      from owners a where a.id is not null),
    first_due as materialized (
      select due.id, (in_hand.number + due.turn)::integer as in_hand from owners a
      cross join lateral (
        select count(*) as number from scans s where s.account_id = a.id and s.due_at > now()) in_hand
      cross join lateral (
        select s.id, s.due_at, row_number() over (order by s.due_at) as turn
        from scans s where s.account_id = a.id and s.due_at <= now()
        order by s.due_at limit (select ${limit}::bigint)) due
      order by in_hand.number + due.turn, due.due_at limit ${limit})
    update scans s set run = null, due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from first_due f
    where s.id = f.id and s.id = any(array(
      select id from scans where id = any(array(select id from first_due)) and due_at <= now()
      for update skip locked))
    returning s.id as "scanId", f.in_hand as "inHand"`.execute(db);
  return rows.map(({ scanId, inHand }) => ({ scanId, turn: scanTurn({ inHand, isAsked: false }) }));
}

/** How many scans of the account wait or run, beyond a thousand a thousand. */
export async function countScansInHand(db: Database, accountId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (
      select from scans where account_id = ${accountId} and due_at is not null limit ${MOST_SCANS}) s`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}
