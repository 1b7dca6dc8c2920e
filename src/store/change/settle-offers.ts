// Offers a TXT record to the claims of a name that would be answered whole with it, and takes the offer back from those that
// need it no more: nobody looks for a record that changes nothing.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { insertVerification } from './domain-parts.ts';
import { FIRST_LOOK_MS, newVerification } from './start-status.ts';

const MINUTE_MS = 60_000;

interface OfferRow {
  readonly id: number;
  /** Null: it has no verification. */
  readonly offered: boolean | null;
  readonly now: Date;
}

/** `rows`: the claims that wait; `wanted`: those that are to have the offer. Call it under `lockNamesAround`. */
export async function settleOffers(
  trx: Database,
  rows: readonly OfferRow[],
  wanted: readonly number[],
): Promise<void> {
  const missing = rows.filter(({ id, offered }) => offered === null && wanted.includes(id));
  // Its times are shown, and must not tell when exactly another account's claim came.
  for (const { id, now } of missing) await insertVerification(trx, id, newVerification(minuteOf(now)));
  const renewed = rows.filter(({ id, offered }) => offered === false && wanted.includes(id));
  const ended = rows.filter(({ id, offered }) => offered === true && !wanted.includes(id));
  // The pauses between looks go on, so that an offer which comes and goes brings no more of them.
  if (renewed.length > 0)
    await sql`
      update domain_verifications set offered = true, due_at = case when next_at is not null then
        greatest(next_at, clock_timestamp() + make_interval(secs => ${FIRST_LOOK_MS / 1000}::float8)) end
      where domain_id = any(${renewed.map(({ id }) => id)}::bigint[])`.execute(trx);
  if (ended.length > 0)
    await sql`
      update domain_verifications set offered = false, due_at = null
      where domain_id = any(${ended.map(({ id }) => id)}::bigint[])`.execute(trx);
}

function minuteOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS);
}
