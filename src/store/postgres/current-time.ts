// The time of a change, from Postgres, because the clocks of processes differ.

import { sql } from 'kysely';
import type { Database } from './database.ts';

/** In whole milliseconds, as in JavaScript. */
export const TIME = sql`date_trunc('milliseconds', clock_timestamp())`;

export async function currentTime(trx: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select ${TIME} as now`.execute(trx);
  return (rows[0] as { now: Date }).now;
}
