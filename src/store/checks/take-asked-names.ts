// Processes nodes' reports of unproven zones that received queries, and makes the checks of those names due, subject to
// each account's share. If a check is running, it may have started before the query, so the next one waits until it is
// saved.

import { sql } from 'kysely';
import { planAsked } from '../../checks/shares/asked.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { addRepeatedChecks, FADED_ASKED } from './check-shares.ts';

/** Per round. The table holds a few thousand. */
const MOST_TAKEN = 500;

export interface AskedNames {
  /** Checks that are due now. */
  readonly due: number;
  /** Reports of names whose check is due later, or was made in the meantime. */
  readonly later: number;
  /** Reports of names that no longer wait. */
  readonly ignored: number;
}

export async function takeAskedNames(db: Database): Promise<AskedNames> {
  const { later, ignored } = await inTransaction(db, planReports);
  return { due: await makeDue(db), later, ignored };
}

/** An unproven zone. Queries trigger a check only for these. */
const IS_OPEN = sql`(d.status = 'pending' and d.dns_mode = 'managed' and d.served = 'full' and d.deleted_at is null)`;

interface Report {
  /** Null if no domain has the zone any longer. */
  readonly domainId: number | null;
  readonly accountId: number;
  readonly isOpen: boolean;
  readonly reportedAt: Date;
  readonly checkedAt: Date | null;
  readonly dueAt: Date | null;
  readonly again: number;
  readonly now: Date;
}

async function planReports(trx: Database): Promise<{ readonly later: number; readonly ignored: number }> {
  const reports = await takeReports(trx);
  const again = new Map<number, number>();
  const planned: { readonly domainId: number; readonly at: Date }[] = [];
  let later = 0;
  let ignored = 0;
  for (const { domainId, accountId, isOpen, reportedAt, checkedAt, dueAt, now, ...report } of reports) {
    if (domainId === null || !isOpen) {
      ignored++;
      continue;
    }
    const counted = again.get(accountId) ?? 0;
    const plan = planAsked({ checkedAt: checkedAt?.getTime(), again: report.again + counted }, now.getTime());
    if (plan.at > now.getTime()) later++;
    // A report by another node may have triggered the check made since.
    if (checkedAt !== null && reportedAt <= checkedAt) continue;
    if (dueAt !== null && dueAt.getTime() <= plan.at) continue;
    if (plan.isAgain) again.set(accountId, counted + 1);
    planned.push({ domainId, at: new Date(plan.at) });
  }
  if (planned.length > 0)
    await sql`
      update domain_checks c set asked_due_at = p.at
      from jsonb_to_recordset(${JSON.stringify(planned)}::jsonb) as p("domainId" bigint, at timestamptz)
      where c.domain_id = p."domainId"`.execute(trx);
  await addRepeatedChecks(trx, again);
  return { later, ignored };
}

/** Locks the rows of the domains, so that two workers do not schedule one domain concurrently. */
async function takeReports(trx: Database): Promise<readonly Report[]> {
  const { rows } = await sql<Report>`
    with taken as materialized (
      delete from asked_names where slot = any(array(
        select slot from asked_names order by asked_at limit ${MOST_TAKEN} for update skip locked))
      returning zone_id, asked_at),
    named as materialized (
      select c.domain_id, c.asked_at, c.asked_due_at, d.account_id, d.zone_id, ${IS_OPEN} as is_open
      from domains d join domain_checks c on c.domain_id = d.id
      where d.zone_id = any(array(select zone_id from taken))
      order by c.domain_id for no key update of c)
    select n.domain_id as "domainId", n.account_id as "accountId", n.is_open as "isOpen", t.asked_at as "reportedAt",
      n.asked_at as "checkedAt", n.asked_due_at as "dueAt", coalesce(${FADED_ASKED}, 0) as again,
      clock_timestamp() as now
    from taken t left join named n on n.zone_id = t.zone_id left join check_shares s on s.account_id = n.account_id
    order by t.asked_at`.execute(trx);
  return rows;
}

/** Makes scheduled checks due, unless `next_at` is in the past: then a check is queued or running. Returns their number. */
async function makeDue(db: Database): Promise<number> {
  const { rows } = await sql<{ isOpen: boolean }>`
    with due as materialized (
      select c.domain_id as id, ${IS_OPEN} as is_open from domain_checks c join domains d on d.id = c.domain_id
      where c.asked_due_at <= now() and (c.next_at > now() or not ${IS_OPEN})
      limit ${MOST_TAKEN} for no key update of c skip locked)
    update domain_checks c set asked_due_at = null,
      asked_at = case when due.is_open then now() else c.asked_at end,
      due_at = case when due.is_open then now() else c.due_at end,
      next_at = case when due.is_open then now() else c.next_at end
    from due where c.domain_id = due.id returning due.is_open as "isOpen"`.execute(db);
  return rows.filter(({ isOpen }) => isOpen).length;
}
