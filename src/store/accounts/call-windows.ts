// The calls of the last 60 seconds, counted over all API processes by the database's clock: one row for whomever they are
// counted for, with the time of each call that was let in. A call is let in when fewer than the rate were in the 60 seconds
// before it, so no 60 seconds ever have more, and a call that is refused can be repeated as soon as the oldest is over.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export const WINDOW_MS = 60_000;
/** A row fits into its page. At higher rates the calls of some milliseconds are one entry, which counts until its end. */
const MAX_ENTRIES = 900;
const TAKES_PER_PURGE = 5000;

export interface TakenCall {
  readonly admitted: boolean;
  /** Calls that count now, with this one if it is admitted. */
  readonly used: number;
  /** Until the next call that counts does so no more; if this one is refused: until one would be admitted. */
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

  /** `nowMs`: for tests; the database's clock otherwise. */
  async take(subject: string, nowMs?: number): Promise<TakenCall> {
    if (++this.#takes % TAKES_PER_PURGE === 0) await this.purge();
    const { rows } = await takeStatement(subject, this.#rate, nowMs).execute(this.#db);
    const { admitted, now, calls } = rows[0] as TakenRow;
    const entries = calls.map(BigInt);
    const used = entries.reduce((sum, entry) => sum + Number(entry & COUNT_MASK), 0);
    // if the rate was higher before, more than one call has to be over
    const next = firstWith(entries, admitted ? 1 : used - this.#rate + 1);
    const waitMs = next === undefined ? 0 : Number(next >> COUNT_BITS) + WINDOW_MS - now;
    return { admitted, used, waitMs: Math.max(1, waitMs) };
  }

  /** Forgets whoever made no call for a minute. */
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
  /** As text, since they are longer than a safe integer. */
  readonly calls: readonly string[];
}

/** An entry is a time in milliseconds since 1970, and in its lowest bits the number of its calls. */
const COUNT_BITS = 20n;
const COUNT_MASK = (1n << COUNT_BITS) - 1n;

/** The entry with which so many calls are over. */
function firstWith(entries: readonly bigint[], calls: number): bigint | undefined {
  let over = 0;
  return entries.find((entry) => {
    over += Number(entry & COUNT_MASK);
    return over >= calls;
  });
}

/**
 * The row is locked while its entries are read and written, so concurrent calls wait for each other. Entries from a future
 * beyond a window are left from a clock that was set back.
 */
function takeStatement(subject: string, rate: number, nowMs: number | undefined): RawBuilder<TakenRow> {
  const stepMs = rate <= MAX_ENTRIES ? 1 : Math.ceil(WINDOW_MS / MAX_ENTRIES);
  const now = sql`(select coalesce(${nowMs ?? null}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as now)`;
  const stamp = sql`t.now / ${stepMs}::bigint * ${stepMs}::bigint + ${stepMs - 1}::bigint`;
  const window = sql`${WINDOW_MS}::bigint`;
  const bits = sql`${Number(COUNT_BITS)}::integer`;
  const mask = sql`${Number(COUNT_MASK)}::bigint`;
  const endsAt = sql`to_timestamp((t.now + 2 * ${window}) / 1000.0)`;
  return sql<TakenRow>`
    insert into call_windows as w (subject, calls, admitted, ends_at)
    select ${subject}, array[(${stamp} << ${bits}) + 1], true, ${endsAt} from ${now} t
    on conflict (subject) do update set (calls, admitted, ends_at) = (
      select case
          when u.used >= ${rate}::bigint then u.live
          when u.live[cardinality(u.live)] >> ${bits} = ${stamp}
            then u.live[:cardinality(u.live) - 1] || u.live[cardinality(u.live)] + 1
          else u.live || (${stamp} << ${bits}) + 1 end,
        u.used < ${rate}::bigint, ${endsAt}
      from ${now} t cross join lateral (
        select coalesce(sum(c & ${mask}), 0) as used, coalesce(array_agg(c order by c), '{}') as live
        from unnest(w.calls) c
        where c >> ${bits} > t.now - ${window} and c >> ${bits} <= t.now + ${window}) u)
    returning w.admitted, w.calls::text[] as calls,
      round(extract(epoch from w.ends_at) * 1000)::bigint - 2 * ${window} as now`;
}
