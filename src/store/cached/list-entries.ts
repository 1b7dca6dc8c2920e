// What edges have cached of a domain, page by page. Texts of customers become patterns by `likeOf` alone.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

/** Columns by which rows are sorted; every one that they have. */
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
  /** A part of it, or with `*` the whole of it; `host` in any case. */
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
  /** Entries that there was no room for. */
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
  // the same in every row of a domain: then the order is that of their making
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

/** With `*`, which is any run of characters, the text stands for the whole; without, for a part. */
export function likeOf(text: string): string {
  const plain = (part: string) => part.replaceAll(/[\\%_]/g, '\\$&');
  if (!text.includes('*')) return `%${plain(text)}%`;
  return text.split(/\*+/).map(plain).join('%');
}
