// How many entries each domain has. Whoever writes entries first locks the counts of their domains, in order, so that nobody waits
// in a circle.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Within a transaction. */
export async function lockCounts(trx: Database, domainIds: readonly number[]): Promise<void> {
  const ids = [...new Set(domainIds)].sort((one, other) => one - other);
  if (ids.length === 0) return;
  await sql`
    insert into cached_domains (domain_id) select id from unnest(${ids}::bigint[]) t (id) order by id
    on conflict do nothing`.execute(trx);
  await sql`
    select from cached_domains where domain_id = any(${ids}::bigint[]) order by domain_id for update`.execute(
    trx,
  );
}

/** Rows of one transaction, so that none takes long. */
const PIECE = 5000;

/** Deletes the entries for which `which` holds (of `cached_entries e`), in pieces; gives how many. */
export async function deleteEntries(db: Database, which: RawBuilder<unknown>): Promise<number> {
  for (let deleted = 0; ; ) {
    const piece = await db.transaction().execute((trx) => deletePiece(trx, which));
    deleted += piece.deleted;
    if (piece.found < PIECE) return deleted;
  }
}

async function deletePiece(
  trx: Database,
  which: RawBuilder<unknown>,
): Promise<{ found: number; deleted: number }> {
  const picked = sql`select e.ctid, e.domain_id from cached_entries e where ${which} limit ${PIECE}`;
  const { rows } = await sql<{ id: number; count: number }>`
    select domain_id as id, count(*)::integer as count from (${picked}) p group by domain_id`.execute(trx);
  if (rows.length === 0) return { found: 0, deleted: 0 };
  const ids = rows.map(({ id }) => id);
  await lockCounts(trx, ids);
  const { rows: gone } = await sql<{ deleted: number }>`
    with gone as (
      delete from cached_entries where ctid = any(array(
        select e.ctid from cached_entries e where ${which} and e.domain_id = any(${ids}::bigint[]) limit ${PIECE}))
      returning domain_id),
    counts as (select domain_id, count(*)::integer as count from gone group by domain_id),
    noted as (
      update cached_domains d set entries = d.entries - c.count from counts c where d.domain_id = c.domain_id)
    select coalesce(sum(count), 0)::integer as deleted from counts`.execute(trx);
  return { found: rows.reduce((sum, { count }) => sum + count, 0), deleted: gone[0]?.deleted ?? 0 };
}
