// Failures to sign in, counted in Postgres over all API processes. Workers delete what is no longer needed.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface Failures {
  readonly count: number;
  readonly windowEndsAt: Date;
  /** How often the limit was reached lately. */
  readonly blocks: number;
  readonly blockedUntil: Date | null;
}

/** How often a state is looked at after its block is over. */
const KEPT_HOURS = 24;

export async function loadFailures(
  db: Database,
  keys: readonly string[],
): Promise<{ readonly failures: ReadonlyMap<string, Failures>; readonly now: Date }> {
  const { rows } = await sql<{ key: string | null; now: Date } & Failures>`
    select f.key, f.count, f.window_ends_at as "windowEndsAt", f.blocks, f.blocked_until as "blockedUntil",
      clock_timestamp() as now
    from (select 1) one left join sign_in_failures f on f.key = any(${keys}::text[])`.execute(db);
  const known = rows.flatMap(({ key, now: _, ...state }) => (key === null ? [] : [[key, state] as const]));
  return { failures: new Map(known), now: rows[0]?.now as Date };
}

/** Counts one more failure; `next` decides what follows from it. `also` is done in the same transaction. */
export async function noteFailure(
  db: Database,
  key: string,
  next: (before: Failures, now: Date) => Failures,
  also?: (trx: Database) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`
      insert into sign_in_failures (key, count, window_ends_at, blocks, kept_until)
      values (${key}, 0, clock_timestamp(), 0, clock_timestamp()) on conflict do nothing`.execute(trx);
    const { rows } = await sql<Failures & { now: Date }>`
      select count, window_ends_at as "windowEndsAt", blocks, blocked_until as "blockedUntil", clock_timestamp() as now
      from sign_in_failures where key = ${key} for update`.execute(trx);
    const { now, ...before } = rows[0] as Failures & { now: Date };
    const { count, windowEndsAt, blocks, blockedUntil } = next(before, now);
    await sql`
      update sign_in_failures set count = ${count}, window_ends_at = ${windowEndsAt}, blocks = ${blocks},
        blocked_until = ${blockedUntil},
        kept_until = greatest(${windowEndsAt}::timestamptz, ${blockedUntil}::timestamptz
          + make_interval(hours => ${KEPT_HOURS}::integer))
      where key = ${key}`.execute(trx);
    await also?.(trx);
  });
}
