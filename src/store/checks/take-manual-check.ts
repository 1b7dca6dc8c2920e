// The one check an hour that a domain's users may ask for: taken before the check, and given back when its result is
// `unknown`, at most twice a day.

import { sql } from 'kysely';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

const INTERVAL_MS = 3_600_000;

type TakenCheck =
  /** `taken` and `previous` are needed to give it back. */
  | { readonly kind: 'taken'; readonly taken: Date; readonly previous: Date | null }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number };

/**
 * Takes the check; of several callers at once one gets it. `at`: by default the database's time, so that all API
 * processes use one clock.
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

/**
 * How many times a day the check is given back: a domain whose parent never answers would else be checked without end by
 * whoever asks for it.
 */
const GIVEN_BACK_A_DAY = 2;
const DAY_SECONDS = 86_400;

/** Gives the check back, unless another caller has taken it since, or it was given back too often. */
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
      and (given_back < ${GIVEN_BACK_A_DAY} or ${isNewDay})`.execute(db);
}

/** Gives back a check that no worker was asked to make: that costs nobody anything, however often. */
export async function undoManualCheck(
  db: Database,
  domainId: number,
  { taken, previous }: { readonly taken: Date; readonly previous: Date | null },
): Promise<void> {
  await sql`
    update domain_checks set last_manual_at = ${previous}
    where domain_id = ${domainId} and last_manual_at = ${taken}`.execute(db);
}
