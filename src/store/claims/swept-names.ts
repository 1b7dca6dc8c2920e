// Names whose last domain has ended and that are still checked (docs/rules.md "Sightings"). A name has one row for all
// its accounts, and only if its parent ever delegated it to the fleet.

import { sql } from 'kysely';
import { MOST_SWEPT_NAMES, type SweptName } from '../../checks/claims/sweep.ts';
import type { Database } from '../postgres/database.ts';

const FIRST_SWEEP_SECONDS = 86_400;
/** A sweep that is lost with its process is repeated after this time. */
const LEASE_SECONDS = 600;

/**
 * Call it when a domain ends. The row keeps its first account. Otherwise another account could claim and delete the
 * name, and then displace the row with other names.
 */
export async function sweepName(
  trx: Database,
  { name, accountId }: { readonly name: string; readonly accountId: number },
  now: Date,
): Promise<void> {
  const due = new Date(now.getTime() + FIRST_SWEEP_SECONDS * 1000);
  const { rows } = await sql<{ isNew: boolean }>`
    insert into swept_names as s (name, account_id, ended_at, due_at)
    select ${name}, ${accountId}, ${now}, ${due}
    where exists (select from ns_sightings n where n.name = ${name})
      or exists (select from name_holders h where h.name = ${name})
    on conflict (name) do update set ended_at = excluded.ended_at
    returning s.xmax = 0 as "isNew"`.execute(trx);
  if (rows[0]?.isNew !== true) return;
  await sql`
    delete from swept_names where name in (
      select name from swept_names where account_id = ${accountId} and name <> ${name}
      order by ended_at desc, name offset ${MOST_SWEPT_NAMES - 1})`.execute(trx);
}

export interface DueName extends SweptName {
  readonly name: string;
  readonly accountId: number;
  /** True if checks of a domain already cover the name. */
  readonly isChecked: boolean;
}

interface DueNames {
  readonly names: readonly DueName[];
  /** The account after which the next round starts; 0 for the beginning. */
  readonly after: number;
}

/** Number of accounts that one round reads, due or not. */
const MOST_ACCOUNTS = 1000;

/** Claims one due name of each account, for `limit` accounts, so that an account with many names does not delay others. */
export async function claimSweptNames(
  db: Database,
  { limit, after }: { readonly limit: number; readonly after: number },
): Promise<DueNames> {
  const { rows } = await sql<{ names: DueName[] | null; after: number | null }>`
    with recursive accounts as (
      select f.account_id, f.name, f.due_at, 1 as number from (
        select s.account_id, s.name, s.due_at from swept_names s where s.account_id > ${after}
        order by s.account_id, s.due_at limit 1) f
      union all
      select f.account_id, f.name, f.due_at, a.number + 1
      from accounts a cross join lateral (
        select s.account_id, s.name, s.due_at from swept_names s where s.account_id > a.account_id
        order by s.account_id, s.due_at limit 1) f
      where a.number < ${MOST_ACCOUNTS}),
    picked as materialized (
      select s.name from swept_names s
      where s.due_at <= clock_timestamp() and s.name = any(array(
        select a.name from accounts a where a.due_at <= clock_timestamp() order by a.due_at limit ${limit}))
      for update skip locked),
    claimed as (
      update swept_names s set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      from picked p where s.name = p.name returning s.*)
    select (select json_agg(json_build_object('name', c.name, 'accountId', c.account_id,
          'endedAt', extract(epoch from c.ended_at) * 1000, 'isShown', c.is_shown, 'isChecked', exists (
            select from domains d join domain_checks k on k.domain_id = d.id
            where d.name = c.name and d.deleted_at is null and k.due_at is not null)))
        from claimed c) as names,
      (select a.account_id from accounts a where a.number = ${MOST_ACCOUNTS}) as after`.execute(db);
  const { names, after: last } = rows[0] as (typeof rows)[0];
  return { names: names ?? [], after: last ?? 0 };
}

/** `next` is undefined after the last sweep. */
export async function saveSweep(
  db: Database,
  name: string,
  next: { readonly at: number; readonly isShown: boolean } | undefined,
): Promise<void> {
  if (next === undefined) await sql`delete from swept_names where name = ${name}`.execute(db);
  else
    await sql`
      update swept_names set due_at = ${new Date(next.at)}, is_shown = ${next.isShown} where name = ${name}`.execute(
      db,
    );
}
