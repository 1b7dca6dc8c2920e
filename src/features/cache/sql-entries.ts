// Lists cached entries, and deletes expired ones and those of deleted edges.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import type { PurgeTarget } from './rules.ts';

/** Columns by which rows can be sorted: all columns of a row. */
export const SORTED_BY = [
  'domain_id',
  'domain',
  'host',
  'path',
  'query',
  'variant',
  'method',
  'node',
  'hostname',
  'store_path',
  'key_hash',
  'cache_key',
  'l2_key',
  'size',
  'cached_at',
  'expires_at',
] as const;
export type SortedBy = (typeof SORTED_BY)[number];

interface EntryFilter {
  readonly hostname?: string | undefined;
  /** Part of the value, or a pattern for all of it if it contains `*`. `host` is case-insensitive. */
  readonly host?: string | undefined;
  readonly path?: string | undefined;
  readonly node?: string | undefined;
}

interface EntryPage extends EntryFilter {
  readonly sort: SortedBy;
  readonly ascends: boolean;
  readonly limit: number;
  readonly offset: number;
}

interface CachedEntry {
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly variant: string;
  readonly method: string;
  readonly node: string;
  readonly hostname: string;
  readonly storePath: string;
  readonly keyHash: string;
  readonly cacheKey: string;
  readonly l2Key: string;
  readonly size: number;
  readonly cachedAt: Date;
  readonly expiresAt: Date;
}

interface EntriesFound {
  readonly rows: readonly CachedEntry[];
  readonly total: number;
  /** Number of entries that were dropped for lack of space. */
  readonly dropped: number;
}

const COLUMNS = sql`e.host, e.path, e.query, e.variant, e.method, e.node, e.hostname, e.store_path as "storePath",
  e.key_hash as "keyHash", e.cache_key as "cacheKey", e.l2_key as "l2Key", e.size, e.cached_at as "cachedAt",
  e.expires_at as "expiresAt"`;

export async function listEntries(db: Database, domainId: number, page: EntryPage): Promise<EntriesFound> {
  const which = conditions(domainId, page);
  const { rows: counts } = await sql<{ total: number; dropped: number }>`
    select count(*) as total,
      coalesce((select dropped from cached_domains where domain_id = ${domainId}), 0) as dropped
    from cached_entries e where ${which}`.execute(db);
  const { total, dropped } = counts[0] as { total: number; dropped: number };
  if (page.offset >= total) return { rows: [], total, dropped };
  // All rows of a domain have the same value, so they are sorted by insertion.
  const isOne = page.sort === 'domain' || page.sort === 'domain_id';
  const column = isOne ? sql`e.id` : sql.ref(`e.${page.sort}`);
  const order = page.ascends ? sql`${column} asc, e.id asc` : sql`${column} desc, e.id desc`;
  const { rows } = await sql<CachedEntry>`
    select ${COLUMNS} from cached_entries e join (
      select e.ctid as place from cached_entries e where ${which}
      order by ${order} limit ${page.limit} offset ${page.offset}) p on e.ctid = p.place
    order by ${order}`.execute(db);
  return { rows, total, dropped };
}

function conditions(domainId: number, { hostname, host, path, node }: EntryFilter): RawBuilder<unknown> {
  const all = [sql`e.domain_id = ${domainId}`, sql`e.expires_at > now()`];
  if (hostname !== undefined) all.push(sql`e.hostname = ${hostname}`);
  if (node !== undefined) all.push(sql`e.node = ${node}`);
  if (host !== undefined) all.push(sql`e.host like ${likeOf(host.toLowerCase())}`);
  if (path !== undefined) all.push(sql`e.path like ${likeOf(path)}`);
  return sql.join(all, sql` and `);
}

/** Returns a LIKE pattern. A text with `*` (any text) matches whole values, and another text matches parts. */
function likeOf(text: string): string {
  const plain = (part: string) => part.replaceAll(/[\\%_]/g, '\\$&');
  if (!text.includes('*')) return `%${plain(text)}%`;
  return text.split(/\*+/).map(plain).join('%');
}

interface DonePurge {
  readonly domainId: number;
  readonly target: PurgeTarget;
  /** When the purge was ordered. Entries that were cached later are kept, because the edge reports them itself. */
  readonly at: Date;
}

export async function removePurged(
  db: Database,
  node: string,
  { domainId, target, at }: DonePurge,
): Promise<number> {
  const matches = sql.join([sql`e.node = ${node}`, ...conditionsToRemove(domainId, target)], sql` and `);
  return await deleteEntries(db, sql`${matches} and e.cached_at <= ${at}`);
}

/** Number of characters of a path in the index. */
const INDEXED = sql.lit(128);
const INDEXED_PATH = sql`left(e.path, ${INDEXED})`;
const LAST_CHARACTER = '\u{10ffff}';

/** Uses conditions that indexes support, because many purges of a large domain must be cheap. */
function conditionsToRemove(domainId: number, target: PurgeTarget): RawBuilder<unknown>[] {
  const own = sql`e.domain_id = ${domainId}`;
  if (target.kind === 'all') return [own];
  if (target.kind === 'stored')
    return [
      own,
      sql`e.hostname = ${target.hostname}`,
      sql`md5(e.store_path) = md5(${target.store_path}) and e.store_path = ${target.store_path}`,
    ];
  const { host } = target;
  if (target.kind === 'host')
    return [own, host.startsWith('*.') ? sql`e.host like ${likeOf(host)}` : sql`e.host = ${host}`];
  const { path } = target;
  const begin = sql`left(${path}, ${INDEXED})`;
  if (target.kind === 'url')
    return [
      own,
      sql`e.host = ${host} and ${INDEXED_PATH} = ${begin}`,
      sql`e.path = ${path} and e.query = ${target.query}`,
    ];
  return [
    own,
    sql`e.host = ${host} and ${INDEXED_PATH} >= ${begin} and ${INDEXED_PATH} < ${begin} || ${LAST_CHARACTER}::text`,
    sql`starts_with(e.path, ${path})`,
  ];
}

/** Maximum number of domains whose expired entries one round deletes. */
const SWEPT_DOMAINS = 100;

/** Deletes expired entries, and those of nodes other than `liveNodes`. Returns true if there may be more. */
export async function sweepEntries(db: Database, liveNodes: readonly string[]): Promise<boolean> {
  const { rows } = await sql<{ id: number }>`
    select d.domain_id as id from cached_domains d
    where exists (select from cached_entries e where e.domain_id = d.domain_id and e.expires_at <= now())
    limit ${SWEPT_DOMAINS}`.execute(db);
  for (const { id } of rows) await deleteEntries(db, sql`e.domain_id = ${id} and e.expires_at <= now()`);
  for (const node of await nodesBeside(db, liveNodes)) await deleteEntries(db, sql`e.node = ${node}`);
  await sql`delete from cached_nodes where node <> all(${[...liveNodes]}::text[])`.execute(db);
  await sql`delete from cached_domains where entries = 0 and dropped = 0`.execute(db);
  return rows.length === SWEPT_DOMAINS;
}

/** Steps from node to node along the index, independently of the number of entries of each. */
async function nodesBeside(db: Database, liveNodes: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ node: string }>`
    with recursive nodes as (
      (select node from cached_entries order by node limit 1)
      union all
      select (select e.node from cached_entries e where e.node > n.node order by e.node limit 1) from nodes n
      where n.node is not null)
    select node from nodes where node is not null and node <> all(${[...liveNodes]}::text[])`.execute(db);
  return rows.map(({ node }) => node);
}

/** Locks the counts of the domains. Call it within a transaction. */
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

/** Maximum number of rows per transaction, so that each is short. */
const PIECE = 5000;

/** Deletes the entries `e` of `cached_entries` that match `which`, in pieces. Returns their number. */
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
