// The one check an hour that a domain's users may ask for: taken before it is made, and given back when it told nothing.

import { sql } from 'kysely';
import type { Database } from './database.ts';
import { currentTime } from './lock-domain.ts';
import { inTransaction } from './transaction.ts';

const INTERVAL_MS = 3_600_000;

export type TakenCheck =
  /** `taken` and `previous` are for giving it back. */
  | { readonly kind: 'taken'; readonly taken: Date; readonly previous: Date | null }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number };

/** Of several at once one has it. `at`: default the database's time, so that all API processes go by one clock. */
export async function takeManualCheck(db: Database, domainId: number, at?: Date): Promise<TakenCheck> {
  return await inTransaction<TakenCheck>(db, async (trx) => {
    const { last_manual_ns_check_at: previous } = await trx
      .selectFrom('domains')
      .select('last_manual_ns_check_at')
      .where('id', '=', domainId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const taken = at ?? (await currentTime(trx));
    const waitMs = previous === null ? 0 : previous.getTime() + INTERVAL_MS - taken.getTime();
    if (waitMs > 0) return { kind: 'limited', retryAfterSeconds: Math.ceil(waitMs / 1000) };
    await sql`update domains set last_manual_ns_check_at = ${taken} where id = ${domainId}`.execute(trx);
    return { kind: 'taken', taken, previous };
  });
}

/** Unless somebody has taken it since. */
export async function giveBackManualCheck(
  db: Database,
  domainId: number,
  taken: Date,
  previous: Date | null,
): Promise<void> {
  await sql`
    update domains set last_manual_ns_check_at = ${previous}
    where id = ${domainId} and last_manual_ns_check_at = ${taken}`.execute(db);
}
