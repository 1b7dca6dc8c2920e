// Stores the entries that an edge reports.

import { sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import type { FoldedReport } from './rules.ts';
import { deleteEntries, lockCounts } from './sql-entries.ts';

interface SavedReport {
  /** New entries, and entries that replaced older ones. */
  readonly stored: number;
  readonly evicted: number;
  /** Number of old entries that were deleted because the domain had too many. */
  readonly dropped: number;
}

const MOST_OF_A_DOMAIN = 1_000_000;
/** Edges keep entries for at most seven days. Clocks may differ a little. */
const LONGEST = sql`interval '8 days'`;
const CLOCKS_DIFFER = sql`interval '5 minutes'`;

export async function saveReport(
  db: Database,
  node: string,
  { restartedAt, cleared, evicted, stored }: FoldedReport,
  most = MOST_OF_A_DOMAIN,
): Promise<SavedReport> {
  let gone = 0;
  if (restartedAt !== undefined) {
    await sql`
      insert into cached_nodes as n (node, restarted_at)
      values (${node}, least(${restartedAt}::timestamptz, clock_timestamp() + ${CLOCKS_DIFFER}))
      on conflict (node) do update set restarted_at = greatest(n.restarted_at, excluded.restarted_at)`.execute(
      db,
    );
    gone += await deleteEntries(
      db,
      sql`e.node = ${node} and e.cached_at < (select restarted_at from cached_nodes where node = ${node})`,
    );
  }
  for (const [domainId, at] of cleared)
    gone += await deleteEntries(
      db,
      sql`e.node = ${node} and e.domain_id = ${domainId} and e.cached_at <= ${at}::timestamptz`,
    );
  if (evicted.length === 0 && stored.length === 0) return { stored: 0, evicted: gone, dropped: 0 };
  return await db.transaction().execute(async (trx) => {
    const domainIds = [...new Set([...evicted, ...stored].map(({ domain_id }) => domain_id))];
    await lockCounts(trx, domainIds);
    const { rows } = await sql<{ stored: number; evicted: number }>`
      with gone as (
        delete from cached_entries e using jsonb_to_recordset(${JSON.stringify(evicted)}::jsonb)
          t (domain_id bigint, key_hash text, at timestamptz)
        where e.node = ${node} and e.domain_id = t.domain_id and e.key_hash = t.key_hash and e.cached_at <= t.at
        returning e.domain_id),
      told as (
        select t.* from jsonb_to_recordset(${JSON.stringify(stored)}::jsonb) t (domain_id bigint, host text, path text,
          query text, variant text, method text, hostname text, store_path text, key_hash text, cache_key text, l2_key text,
          size bigint, cached_at timestamptz, expires_at timestamptz)
        where t.expires_at > clock_timestamp() and t.cached_at <= clock_timestamp() + ${CLOCKS_DIFFER}
          and not exists (select from cached_nodes n where n.node = ${node} and n.restarted_at > t.cached_at)),
      saved as (
        insert into cached_entries as e (domain_id, node, host, path, query, variant, method, hostname, store_path, key_hash,
          cache_key, l2_key, size, cached_at, expires_at)
        select domain_id, ${node}, host, path, query, variant, method, hostname, store_path, key_hash, cache_key, l2_key,
          size, cached_at, least(expires_at, clock_timestamp() + ${LONGEST})
        from told order by domain_id, key_hash
        on conflict (node, domain_id, key_hash) do update set
          host = excluded.host, path = excluded.path, query = excluded.query, variant = excluded.variant,
          method = excluded.method, hostname = excluded.hostname, store_path = excluded.store_path,
          cache_key = excluded.cache_key, l2_key = excluded.l2_key, size = excluded.size,
          cached_at = excluded.cached_at, expires_at = excluded.expires_at
        where excluded.cached_at > e.cached_at
        returning e.domain_id, e.xmax = 0 as is_new),
      counts as (
        select domain_id, sum(more)::integer as more from (
          select domain_id, -1 as more from gone union all select domain_id, 1 from saved where is_new) c
        group by domain_id),
      noted as (
        update cached_domains d set entries = d.entries + c.more from counts c where d.domain_id = c.domain_id)
      select (select count(*)::integer from saved) as stored, (select count(*)::integer from gone) as evicted`.execute(
      trx,
    );
    const [saved] = rows as [{ stored: number; evicted: number }];
    const dropped = await dropOldest(trx, domainIds, most);
    return { stored: saved.stored, evicted: gone + saved.evicted, dropped };
  });
}

/** Deletes the oldest entries of each domain that has more than `most`. The counts must be locked. */
async function dropOldest(trx: Database, domainIds: readonly number[], most: number): Promise<number> {
  const { rows: full } = await sql<{ id: number; surplus: number }>`
    select domain_id as id, entries - ${most}::integer as surplus from cached_domains
    where domain_id = any(${[...domainIds]}::bigint[]) and entries > ${most}`.execute(trx);
  let dropped = 0;
  for (const { id, surplus } of full) {
    const { rows } = await sql<{ count: number }>`
      with gone as (
        delete from cached_entries where ctid = any(array(
          select ctid from cached_entries where domain_id = ${id} order by cached_at, id limit ${surplus}))
        returning 1),
      counted as (select count(*)::integer as count from gone),
      noted as (
        update cached_domains d set entries = d.entries - c.count, dropped = d.dropped + c.count
        from counted c where d.domain_id = ${id})
      select count from counted`.execute(trx);
    dropped += rows[0]?.count ?? 0;
  }
  return dropped;
}
