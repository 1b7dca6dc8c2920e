// What each account has used of the workers lately, shared by all of them: slot time, the checks that users asked for, and
// those made again because clients ask for an unproven name. It fades, so a row is all that there is of an account, and old rows are deleted.

import { sql } from 'kysely';
import { FADE_MS, MOST_MANUAL } from '../../checks/shares/turns.ts';
import type { Database } from '../postgres/database.ts';

const KEPT_SECONDS = 900;

const factor = sql`exp(-greatest(0, extract(epoch from clock_timestamp() - s.at)) / ${FADE_MS / 1000}::float8)`;

/** The slot time of the row `s` of check_shares, faded to now. */
export const FADED_SLOT_MS = sql<number>`s.slot_ms * ${factor}`;

/** The checks made again, of the row `s` of check_shares, faded to now. */
export const FADED_ASKED = sql<number>`s.asked_again * ${factor}`;

const FADED_MANUAL = sql<number>`s.manual * ${factor}`;

interface SlotUse {
  readonly accountId: number;
  readonly slotMs: number;
}

/** Adds slot time; one statement for any number of accounts. An account may come once. */
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

/**
 * Counts a check that a user of the account asks for, unless there were too many; gives how many there were lately, without
 * this one.
 */
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

/** Counts checks that are made again, by account. */
export async function addAskedAgain(db: Database, again: ReadonlyMap<number, number>): Promise<void> {
  if (again.size === 0) return;
  const counted = [...again].sort(([a], [b]) => a - b);
  await sql`
    insert into check_shares as s (account_id, slot_ms, manual, asked_again, at)
    select n.id, 0, 0, n.count, clock_timestamp()
    from unnest(${counted.map(([id]) => id)}::bigint[], ${counted.map(([, count]) => count)}::float8[]) as n(id, count)
    on conflict (account_id) do update set slot_ms = ${FADED_SLOT_MS}, manual = ${FADED_MANUAL},
      asked_again = ${FADED_ASKED} + excluded.asked_again, at = clock_timestamp()`.execute(db);
}

/** Deletes rows of accounts that have used nothing for long. */
export async function purgeShares(db: Database): Promise<void> {
  await sql`
    delete from check_shares where account_id = any(array(
      select account_id from check_shares
      where at < clock_timestamp() - make_interval(secs => ${KEPT_SECONDS}) for update skip locked))`.execute(
    db,
  );
}
