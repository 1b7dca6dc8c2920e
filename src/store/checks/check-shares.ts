// What each account has used of the workers lately, shared by all of them: slot time, and the checks that users asked
// for. It fades, so a row is all that there is of an account, and old rows are deleted.

import { sql } from 'kysely';
import { FADE_MS, MOST_MANUAL } from '../../checks/shares/turns.ts';
import type { Database } from '../postgres/database.ts';

const KEPT_SECONDS = 900;

const factor = sql`exp(-greatest(0, extract(epoch from clock_timestamp() - s.at)) / ${FADE_MS / 1000}::float8)`;

/** The slot time of the row `s` of check_shares, faded to now. */
export const FADED_SLOT_MS = sql<number>`s.slot_ms * ${factor}`;

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
      set slot_ms = ${FADED_SLOT_MS} + excluded.slot_ms, manual = s.manual * ${factor}, at = clock_timestamp()`.execute(
    db,
  );
}

/**
 * Counts a check that a user of the account asks for, unless there were too many; gives how many there were lately, without
 * this one.
 */
export async function countManualCheck(db: Database, accountId: number): Promise<number> {
  const lately = sql`s.manual * ${factor}`;
  const { rows } = await sql<{ manual: number }>`
    with before as (select ${lately} as manual from check_shares s where s.account_id = ${accountId}),
    counted as (
      insert into check_shares as s (account_id, slot_ms, manual, at) values (${accountId}, 0, 1, clock_timestamp())
      on conflict (account_id) do update
        set slot_ms = ${FADED_SLOT_MS}, manual = ${lately} + 1, at = clock_timestamp()
        where ${lately} < ${MOST_MANUAL})
    select coalesce((select manual from before), 0) as manual`.execute(db);
  return rows[0]?.manual ?? 0;
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
