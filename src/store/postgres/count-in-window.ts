// How often something was done within a window of time, by what it is counted for. Counted in the transaction that does it, so what is
// not done does not count. The table has the name of what was counted first.

import { sql } from 'kysely';
import type { Database } from './database.ts';

export interface CountRule {
  readonly limit: number;
  readonly seconds: number;
}

/** Seconds to wait; undefined: it counts. The row is locked until the transaction ends. A window that ends too late is from before the clock went back. */
export async function countInWindow(
  trx: Database,
  subject: string,
  { limit, seconds }: CountRule,
): Promise<number | undefined> {
  const window = sql`make_interval(secs => ${seconds}::integer)`;
  const isOver = sql`(w.ends_at <= clock_timestamp() or w.ends_at > clock_timestamp() + ${window})`;
  const { numAffectedRows } = await sql`
    insert into invite_windows as w (subject, count, ends_at) values (${subject}, 1, clock_timestamp() + ${window})
    on conflict (subject) do update set
      count = case when ${isOver} then 1 else w.count + 1 end,
      ends_at = case when ${isOver} then clock_timestamp() + ${window} else w.ends_at end
    where ${isOver} or w.count < ${limit}`.execute(trx);
  if (numAffectedRows === 1n) return undefined;
  const { rows } = await sql<{ seconds: number }>`
    select greatest(1, ceil(extract(epoch from ends_at - clock_timestamp())))::integer as seconds
    from invite_windows where subject = ${subject}`.execute(trx);
  return rows[0]?.seconds ?? 1;
}
