// Recent use of the workers by account: slot time, checks requested by users, and checks repeated because clients query
// an unproven name. The amounts decay, so one row per account is enough. Workers claim due rows of light accounts
// first.

import { type RawBuilder, sql } from 'kysely';
import { FADE_MS, LIGHT_SLOT_MS, MOST_MANUAL } from '../../checks/shares/turns.ts';
import type { Database } from '../postgres/database.ts';

const KEPT_SECONDS = 900;

const factor = sql`exp(-greatest(0, extract(epoch from clock_timestamp() - s.at)) / ${FADE_MS / 1000}::float8)`;

/** Slot time of the row `s` of check_shares, decayed to now. */
export const FADED_SLOT_MS = sql<number>`s.slot_ms * ${factor}`;

/** Repeated checks of the row `s` of check_shares, decayed to now. */
export const FADED_ASKED = sql<number>`s.asked_again * ${factor}`;

const FADED_MANUAL = sql<number>`s.manual * ${factor}`;

interface SlotUse {
  readonly accountId: number;
  readonly slotMs: number;
}

/** Adds slot time with one statement. Each account may occur only once. */
export async function addSlotTime(db: Database, uses: readonly SlotUse[]): Promise<void> {
  if (uses.length === 0) return;
  await sql`
    insert into check_shares as s (account_id, slot_ms, manual, at)
    select n."accountId", n."slotMs", 0, clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(uses)}::jsonb) as n("accountId" bigint, "slotMs" float8)
    order by n."accountId"
    on conflict (account_id) do update
      set slot_ms = ${FADED_SLOT_MS} + excluded.slot_ms, manual = ${FADED_MANUAL}, asked_again = ${FADED_ASKED},
        at = clock_timestamp()`.execute(db);
}

/** Counts a check that a user of the account requests, unless the limit is reached. Returns the recent number without it. */
export async function countManualCheck(db: Database, accountId: number): Promise<number> {
  const { rows } = await sql<{ manual: number }>`
    with before as (select ${FADED_MANUAL} as manual from check_shares s where s.account_id = ${accountId}),
    counted as (
      insert into check_shares as s (account_id, slot_ms, manual, at) values (${accountId}, 0, 1, clock_timestamp())
      on conflict (account_id) do update
        set slot_ms = ${FADED_SLOT_MS}, manual = ${FADED_MANUAL} + 1, asked_again = ${FADED_ASKED}, at = clock_timestamp()
        where ${FADED_MANUAL} < ${MOST_MANUAL})
    select coalesce((select manual from before), 0) as manual`.execute(db);
  return rows[0]?.manual ?? 0;
}

export async function addRepeatedChecks(db: Database, again: ReadonlyMap<number, number>): Promise<void> {
  if (again.size === 0) return;
  const counted = [...again].sort(([a], [b]) => a - b);
  await sql`
    insert into check_shares as s (account_id, slot_ms, manual, asked_again, at)
    select n.id, 0, 0, n.count, clock_timestamp()
    from unnest(${counted.map(([id]) => id)}::bigint[], ${counted.map(([, count]) => count)}::float8[]) as n(id, count)
    on conflict (account_id) do update set slot_ms = ${FADED_SLOT_MS}, manual = ${FADED_MANUAL},
      asked_again = ${FADED_ASKED} + excluded.asked_again, at = clock_timestamp()`.execute(db);
}

/** Deletes rows of accounts without recent use. */
export async function purgeShares(db: Database): Promise<void> {
  await sql`
    delete from check_shares where account_id = any(array(
      select account_id from check_shares
      where at < clock_timestamp() - make_interval(secs => ${KEPT_SECONDS}) for update skip locked))`.execute(
    db,
  );
}

/** A table with the columns `account_id` and `due_at`, indexed together. The other fields refer to its row as `v`. */
interface DueTable {
  readonly table: RawBuilder<unknown>;
  /** The column that is returned. */
  readonly id: RawBuilder<unknown>;
  readonly join: RawBuilder<unknown>;
  readonly isWanted: RawBuilder<unknown>;
  readonly leaseSeconds: number;
}

export interface DueClaim {
  readonly limit: number;
  /** The account where the last round ended. Undefined at the start. */
  readonly after?: number | undefined;
  /** Only rows of accounts with little recent use. */
  readonly lightOnly?: boolean;
}

export interface ClaimedInTurns {
  readonly rows: readonly { readonly id: number; readonly slotMs: number }[];
  /** Start of the next round. */
  readonly after: number | undefined;
}

/** Number of accounts that one round reads, due or not. */
const MAX_ACCOUNTS = 3000;

/**
 * Claims due rows by account, least recent use first, so that an account with thousands of due rows does not delay the
 * others. A claim extends the due time by a lease, so that the row becomes due again if its worker fails. Reads along
 * the index (account_id, due_at): the earliest row of each account, then the due rows of those that have any. The limit
 * per account is hidden from the planner for the reason given at `claimStatement`.
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
