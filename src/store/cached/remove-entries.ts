// Takes entries out of the registry that are in no cache any more: an edge has purged them, they have expired, or their edge is gone.

import { type RawBuilder, sql } from 'kysely';
import type { PurgeTarget } from '../../edge/purges/purge-target.ts';
import type { Database } from '../postgres/database.ts';
import { deleteEntries } from './counted-rows.ts';
import { likeOf } from './list-entries.ts';

interface DonePurge {
  readonly domainId: number;
  readonly target: PurgeTarget;
  /** When it was ordered: what was cached later is told by the edge. */
  readonly at: Date;
}

export async function removePurged(
  db: Database,
  node: string,
  { domainId, target, at }: DonePurge,
): Promise<number> {
  const matches = sql.join([sql`e.node = ${node}`, ...conditions(domainId, target)], sql` and `);
  return await deleteEntries(db, sql`${matches} and e.cached_at <= ${at}`);
}

/** How many characters of a path the index has. */
const INDEXED = sql.lit(128);
const INDEXED_PATH = sql`left(e.path, ${INDEXED})`;
const LAST_CHARACTER = '\u{10ffff}';

/** Written so that indexes serve them: many purges of a large domain must cost little. */
function conditions(domainId: number, target: PurgeTarget): RawBuilder<unknown>[] {
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

/** Domains whose expired entries one round deletes. */
const SWEPT_DOMAINS = 100;

/** `liveNodes`: the edges that there are; what others had is gone. True: there may be more. */
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

/** Steps from node to node along the index, however many entries each has. */
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
