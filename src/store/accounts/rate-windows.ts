// Rate limits, counted in Postgres for all API processes by the database's clock. One row per subject has the time of
// each admitted call. A call is admitted if fewer calls than the rate were admitted in the last 60 seconds. A rejected
// call can be repeated as soon as the oldest call has expired.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export const WINDOW_MS = 60_000;
/** Keeps a row within one page. At higher rates, calls of several milliseconds share an entry, which counts to its end. */
const MAX_ENTRIES = 900;
const TAKES_PER_PURGE = 5000;

export interface TakenCall {
  readonly admitted: boolean;
  /** Number of calls that count now, including this one if it is admitted. */
  readonly used: number;
  /** Time until the oldest counted call expires. If this call is rejected, time until a call would be admitted. */
  readonly waitMs: number;
}

export class CallWindows {
  readonly #db: Database;
  readonly #rate: number;
  #takes = 0;

  constructor(db: Database, rate: number) {
    this.#db = db;
    this.#rate = rate;
  }

  /** If one call fits, all of `count` are admitted. `nowMs` replaces the database's clock in tests. */
  async take(subject: string, nowMs?: number, count = 1): Promise<TakenCall> {
    if (++this.#takes % TAKES_PER_PURGE === 0) await this.purge();
    const { rows } = await takeStatement(subject, this.#rate, nowMs, count).execute(this.#db);
    const { admitted, now, calls } = rows[0] as TakenRow;
    const entries = calls.map(BigInt);
    const used = entries.reduce((sum, entry) => sum + Number(entry & COUNT_MASK), 0);
    // If the rate was higher before, several calls must expire first.
    const next = firstWith(entries, admitted ? 1 : used - this.#rate + 1);
    const waitMs = next === undefined ? 0 : Number(next >> COUNT_BITS) + WINDOW_MS - now;
    return { admitted, used, waitMs: Math.max(1, waitMs) };
  }

  /** Deletes the rows of subjects without a call in the last minute. */
  async purge(): Promise<void> {
    await sql`
      delete from call_windows where subject = any(array(
        select subject from call_windows where ends_at < clock_timestamp() for update skip locked))`.execute(
      this.#db,
    );
  }
}

interface TakenRow {
  readonly admitted: boolean;
  readonly now: number;
  /** As text, because the values exceed the safe integers. */
  readonly calls: readonly string[];
}

/** An entry has the number of its calls in the lowest bits, and above them a time in milliseconds since 1970. */
const COUNT_BITS = 20n;
const COUNT_MASK = (1n << COUNT_BITS) - 1n;

/** Returns the first entry at whose end this many calls have expired. */
function firstWith(entries: readonly bigint[], calls: number): bigint | undefined {
  let over = 0;
  return entries.find((entry) => {
    over += Number(entry & COUNT_MASK);
    return over >= calls;
  });
}

/**
 * The row is locked while its entries are read and written, so concurrent calls wait for each other. Entries that lie
 * more than a window in the future are from before the clock was set back; they are dropped.
 */
function takeStatement(
  subject: string,
  rate: number,
  nowMs: number | undefined,
  count: number,
): RawBuilder<TakenRow> {
  const stepMs = rate <= MAX_ENTRIES ? 1 : Math.ceil(WINDOW_MS / MAX_ENTRIES);
  const now = sql`(select coalesce(${nowMs ?? null}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as now)`;
  const stamp = sql`t.now / ${stepMs}::bigint * ${stepMs}::bigint + ${stepMs - 1}::bigint`;
  const window = sql`${WINDOW_MS}::bigint`;
  const bits = sql`${Number(COUNT_BITS)}::integer`;
  const mask = sql`${Number(COUNT_MASK)}::bigint`;
  const endsAt = sql`to_timestamp((t.now + 2 * ${window}) / 1000.0)`;
  return sql<TakenRow>`
    insert into call_windows as w (subject, calls, admitted, ends_at)
    select ${subject}, array[(${stamp} << ${bits}) + ${count}::bigint], true, ${endsAt} from ${now} t
    on conflict (subject) do update set (calls, admitted, ends_at) = (
      select case
          when u.used >= ${rate}::bigint then u.live
          when u.live[cardinality(u.live)] >> ${bits} = ${stamp}
            then u.live[:cardinality(u.live) - 1] || u.live[cardinality(u.live)] + ${count}::bigint
          else u.live || (${stamp} << ${bits}) + ${count}::bigint end,
        u.used < ${rate}::bigint, ${endsAt}
      from ${now} t cross join lateral (
        select coalesce(sum(c & ${mask}), 0) as used, coalesce(array_agg(c order by c), '{}') as live
        from unnest(w.calls) c
        where c >> ${bits} > t.now - ${window} and c >> ${bits} <= t.now + ${window}) u)
    returning w.admitted, w.calls::text[] as calls,
      round(extract(epoch from w.ends_at) * 1000)::bigint - 2 * ${window} as now`;
}

export interface CountRule {
  readonly limit: number;
  readonly seconds: number;
}

/**
 * Counts an action in the transaction that performs it, so that failed actions do not count. Returns the seconds to
 * wait, or undefined if the action counts. The row is locked until the transaction ends. A window that ends too late is
 * from before the clock was set back. The table is named after its first user.
 */
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
