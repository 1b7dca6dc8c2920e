// Which minute is judged next, and by which worker: one at a time, in order.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

interface UptimeRound {
  /** The minute to judge, since 1970. */
  readonly minute: number;
  /** How many minutes ago it ended. */
  readonly age: number;
  /** How far it may be judged now: the minute before the one that was over long enough. */
  readonly last: number;
}

/** A worker that was lost holds up the others for so long. */
const LEASE_SECONDS = 60;
/** A minute is judged so long after its end: until then edges report it. */
const WAIT_MINUTES = 2;
/** What is older is not judged any more, when nobody could for so long. */
const MOST_MINUTES = 24 * 60;

/** Undefined: no minute is due, or another worker is at it. */
export async function takeUptimeRound(db: Database): Promise<UptimeRound | undefined> {
  const { rows } = await sql<{ judged: number | null; now: number }>`
    update uptime_round set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where lease_until < clock_timestamp()
      and (judged is null or judged + 1 + 1 + ${WAIT_MINUTES} <= floor(extract(epoch from clock_timestamp()) / 60))
    returning judged, floor(extract(epoch from clock_timestamp()) / 60)::bigint as now`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const last = row.now - 1 - WAIT_MINUTES;
  const minute = row.judged === null ? last : Math.max(row.judged + 1, row.now - MOST_MINUTES);
  return { minute, age: row.now - minute - 1, last };
}

/** It goes on. */
export async function keepUptimeRound(db: Database): Promise<void> {
  await sql`
    update uptime_round set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`.execute(
    db,
  );
}

/** `judged`: the minute that is judged; undefined: it is left for later. */
export async function endUptimeRound(db: Database, judged: number | undefined): Promise<void> {
  await sql`
    update uptime_round set lease_until = '-infinity', judged = greatest(judged, ${judged ?? null}::bigint)`.execute(
    db,
  );
}
