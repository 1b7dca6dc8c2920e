// Checks that users request, one per domain and hour. The allowance is taken before the check, and refunded if the
// result is `unknown`, at most twice a day.

import { sql } from 'kysely';
import { TURN_EACH_MS } from '../../checks/claims/next-turn.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

const INTERVAL_MS = 3_600_000;

type TakenCheck =
  /** `taken` and `previous` are required for a refund. */
  | { readonly kind: 'taken'; readonly taken: Date; readonly previous: Date | null }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number };

/**
 * Takes the allowance. Only one of several concurrent callers gets it. `at` defaults to the database's time, so that
 * all API processes use the same clock.
 */
export async function takeManualCheck(db: Database, domainId: number, at?: Date): Promise<TakenCheck> {
  return await inTransaction<TakenCheck>(db, async (trx) => {
    const { last_manual_at: previous } = await trx
      .selectFrom('domain_checks')
      .select('last_manual_at')
      .where('domain_id', '=', domainId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    const taken = at ?? (await currentTime(trx));
    const waitMs = previous === null ? 0 : previous.getTime() + INTERVAL_MS - taken.getTime();
    if (waitMs > 0) return { kind: 'limited', retryAfterSeconds: Math.ceil(waitMs / 1000) };
    await sql`update domain_checks set last_manual_at = ${taken} where domain_id = ${domainId}`.execute(trx);
    return { kind: 'taken', taken, previous };
  });
}

/** Refunds per day. Without a limit, a user could repeat checks of a domain whose parent never replies. */
const REFUNDS_PER_DAY = 2;
const DAY_SECONDS = 86_400;

/** Refunds the check, unless another caller has taken one since, or the limit of refunds is reached. */
export async function giveBackManualCheck(
  db: Database,
  domainId: number,
  { taken, previous }: { readonly taken: Date; readonly previous: Date | null },
): Promise<void> {
  const isNewDay = sql`(given_back_since is null or given_back_since < ${taken}::timestamptz
    - make_interval(secs => ${DAY_SECONDS}))`;
  await sql`
    update domain_checks set last_manual_at = ${previous},
      given_back = case when ${isNewDay} then 1 else given_back + 1 end,
      given_back_since = case when ${isNewDay} then ${taken} else given_back_since end
    where domain_id = ${domainId} and last_manual_at = ${taken}
      and (given_back < ${REFUNDS_PER_DAY} or ${isNewDay})`.execute(db);
}

/** Refunds a check that no worker received. There is no limit, because it cost nothing. */
export async function undoManualCheck(
  db: Database,
  domainId: number,
  { taken, previous }: { readonly taken: Date; readonly previous: Date | null },
): Promise<void> {
  await sql`
    update domain_checks set last_manual_at = ${previous}
    where domain_id = ${domainId} and last_manual_at = ${taken}`.execute(db);
}

/**
 * Requests a turn for a waiting claim, so that the apex of its name shows its nameservers for a while (docs/rules.md
 * "Turns"). Does nothing if the claim requested one within the hour. The next check of the name decides which is next.
 */
export async function askForTurn(db: Database, domainId: number): Promise<void> {
  await sql`
    update domains set turn_asked_at = clock_timestamp(), turn_last_asked_at = clock_timestamp()
    where id = ${domainId} and status = 'pending' and deleted_at is null and (turn_last_asked_at is null
      or turn_last_asked_at < clock_timestamp() - make_interval(secs => ${TURN_EACH_MS / 1000}))`.execute(db);
}

/**
 * Moves scheduled checks forward, so that the demo takes minutes instead of hours. Affects domains that may change
 * soon: those that are pending, have moved, or missed a check. Skips checks that are due or running.
 */
export async function hastenWaiting(db: Database, seconds: number): Promise<void> {
  await sql`
    update domain_checks c set ${at(seconds)} from domains d
    where d.id = c.domain_id and d.deleted_at is null and ${isLater(seconds)}
      and (d.status in ('pending', 'moved') or c.miss_count > 0)`.execute(db);
}

/** Moves scheduled checks forward for all domains with these names, which have their final dot. */
export async function hastenNames(db: Database, names: readonly string[], seconds: number): Promise<void> {
  await sql`
    update domain_checks c set ${at(seconds)} from domains d
    where d.id = c.domain_id and d.deleted_at is null and ${isLater(seconds)}
      and d.name = any(${names}::text[])`.execute(db);
}

function at(seconds: number) {
  const time = sql`now() + make_interval(secs => ${seconds})`;
  return sql`due_at = ${time}, next_at = ${time}`;
}

function isLater(seconds: number) {
  const time = sql`now() + make_interval(secs => ${seconds})`;
  return sql`c.next_at > ${time} and c.due_at > ${time}`;
}
