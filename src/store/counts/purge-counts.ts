// Limits the nodes' counts in Postgres, even if nodes send too many or the analytics store is unavailable for long.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** A node repeats a report for at most an hour. */
const MOVED_KEPT_HOURS = 24;
/** The newest waiting rows are kept: about 1 GB at most, or 16 hours of ten nodes with few domains. */
const MOST_WAITING = 10_000;
const BATCH_ROWS = 1000;

/** Returns the number of dropped rows that had not been moved. */
export async function purgeDnsCounts(db: Database, mostWaiting = MOST_WAITING): Promise<number> {
  await inPieces(() =>
    sql`
      delete from dns_counts where (instance, part) in (
        select instance, part from dns_counts
        where moved_at < clock_timestamp() - make_interval(hours => ${MOVED_KEPT_HOURS})
        order by moved_at limit ${BATCH_ROWS} for update skip locked)`.execute(db),
  );
  return await inPieces(() =>
    sql`
      delete from dns_counts where (instance, part) in (
        select instance, part from dns_counts where moved_at is null
        order by received_at desc offset ${mostWaiting} limit ${BATCH_ROWS} for update skip locked)`.execute(
      db,
    ),
  );
}

async function inPieces(
  purge: () => Promise<{ readonly numAffectedRows?: bigint | undefined }>,
): Promise<number> {
  for (let all = 0; ; ) {
    const deleted = Number((await purge()).numAffectedRows ?? 0);
    all += deleted;
    if (deleted < BATCH_ROWS) return all;
  }
}
