// Stores purges, and which edges have not completed them.

import { sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import { announceAfterCommit } from '../../store/postgres/transaction.ts';
import type { PurgeTarget } from './rules.ts';

/** Maximum number of purges of a domain per minute, because each makes every edge search its cache. */
const MOST_A_MINUTE = 30;
/** Maximum number of uncompleted purges of a domain. A purge of the whole domain replaces all of them. */
const MOST_OPEN = 200;

type OrderedPurge =
  | { readonly kind: 'ordered'; readonly id: number }
  | { readonly kind: 'limited'; readonly why: 'often' | 'open' };

/** Call it within a transaction. */
export async function orderPurge(
  trx: Database,
  domainId: number,
  target: PurgeTarget,
): Promise<OrderedPurge> {
  await sql`select from domains where id = ${domainId} for no key update`.execute(trx); // one order at a time
  if (target.kind === 'all') {
    // The id of the new purge is not known yet. It is set below.
    await sql`
      with replaced as (
        delete from cache_purge_edges e using cache_purges p
        where p.domain_id = ${domainId} and e.purge_id = p.id and e.done_at is null returning p.id)
      update cache_purges p set replaced_by = 0 where p.id in (select id from replaced)`.execute(trx);
  }
  const { rows: counts } = await sql<{ lately: number; open: number }>`
    select (select count(*)::integer from cache_purges
        where domain_id = ${domainId} and at > clock_timestamp() - interval '1 minute') as lately,
      (select count(*)::integer from cache_purges p where p.domain_id = ${domainId}
        and exists (select from cache_purge_edges e where e.purge_id = p.id and e.done_at is null)) as open`.execute(
    trx,
  );
  const { lately, open } = counts[0] as { lately: number; open: number };
  if (lately >= MOST_A_MINUTE) return { kind: 'limited', why: 'often' };
  if (open >= MOST_OPEN) return { kind: 'limited', why: 'open' };
  const { rows } = await sql<{ id: number }>`
    with ordered as (
      insert into cache_purges (domain_id, target) values (${domainId}, ${JSON.stringify(target)}::jsonb)
      returning id),
    told as (
      insert into cache_purge_edges (purge_id, edge_id)
      select o.id, e.id from ordered o, edges e, domains d
      where d.id = ${domainId} and e.revoked_at is null
        and (d.edge_regions is null or e.region = any(d.edge_regions)))
    select id from ordered`.execute(trx);
  const { id } = rows[0] as { id: number };
  if (target.kind === 'all') {
    await sql`
      update cache_purges set replaced_by = ${id} where domain_id = ${domainId} and replaced_by = 0`.execute(
      trx,
    );
  }
  announceAfterCommit(trx);
  return { kind: 'ordered', id };
}

export interface StoredPurge {
  readonly id: number;
  readonly target: PurgeTarget;
  readonly at: Date;
  /** The purge of the whole domain that edges do instead. */
  readonly replacedBy: number | null;
  /** Sorted by name. */
  readonly edges: readonly PurgeAtEdge[];
}

interface PurgeAtEdge {
  readonly name: string;
  /** False if the edge is offline. Such an edge gets no visitors, and does the purge when it is back. */
  readonly isLive: boolean;
  readonly doneAt: Date | null;
  readonly error: string | null;
}

/** An edge is offline if it was not seen for this long. */
const SILENT_SECONDS = 60;

/** Returns undefined if the domain has no such purge, or if the purge is too old. */
export async function loadPurge(
  db: Database,
  domainId: number,
  id: number,
): Promise<StoredPurge | undefined> {
  const { rows } = await sql<Omit<StoredPurge, 'edges'>>`
    select id, target, at, replaced_by as "replacedBy" from cache_purges where id = ${id} and domain_id = ${domainId}`.execute(
    db,
  );
  const [purge] = await withEdges(db, rows);
  return purge;
}

/** Loads the newest purges first. */
export async function loadLastPurges(db: Database, domainId: number, limit: number): Promise<StoredPurge[]> {
  const { rows } = await sql<Omit<StoredPurge, 'edges'>>`
    select id, target, at, replaced_by as "replacedBy" from cache_purges where domain_id = ${domainId}
    order by id desc limit ${limit}`.execute(db);
  return await withEdges(db, rows);
}

async function withEdges(
  db: Database,
  purges: readonly Omit<StoredPurge, 'edges'>[],
): Promise<StoredPurge[]> {
  if (purges.length === 0) return [];
  const { rows } = await sql<PurgeAtEdge & { readonly purgeId: number }>`
    select p.purge_id as "purgeId", e.name,
      e.seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}) is true as "isLive",
      p.done_at as "doneAt", p.error
    from cache_purge_edges p join edges e on e.id = p.edge_id
    where p.purge_id = any(${purges.map(({ id }) => id)}::bigint[]) and e.revoked_at is null
    order by e.name`.execute(db);
  return purges.map((purge) => ({
    ...purge,
    edges: rows.filter(({ purgeId }) => purgeId === purge.id),
  }));
}

export interface OpenPurge {
  readonly id: number;
  readonly edgeId: number;
  readonly domainId: number;
  /** Without the final dot. */
  readonly domain: string;
  readonly target: PurgeTarget;
}

/** Maximum number of purges sent to an edge at a time. The others follow when it has completed these. */
const MOST_OF_AN_EDGE = 200;
/** Maximum number of purges examined per edge, for failed and for other purges each. */
const LOOKED_AT = 2000;

/** Domains take turns, so that one domain with many purges cannot delay the others. Failed purges come last. */
export async function loadOpenPurges(db: Database, edgeIds: readonly number[]): Promise<OpenPurge[]> {
  const { rows } = await sql<OpenPurge>`
    with asked as (select id from unnest(${[...edgeIds]}::bigint[]) e (id)),
    open as (
      select e.id as edge_id, c.purge_id, c.failed from asked e cross join lateral (
        (select purge_id, false as failed from cache_purge_edges
          where edge_id = e.id and done_at is null and (error is not null) = false
          order by purge_id limit ${LOOKED_AT})
        union all
        (select purge_id, true from cache_purge_edges
          where edge_id = e.id and done_at is null and (error is not null) = true
          order by purge_id limit ${LOOKED_AT})) c),
    turns as (
      select o.edge_id, o.failed, p.id, p.domain_id, p.target,
        row_number() over (partition by o.edge_id, o.failed, p.domain_id order by p.id) as turn
      from open o join cache_purges p on p.id = o.purge_id),
    ranked as (
      select *, row_number() over (partition by edge_id order by failed, turn, id) as rank from turns)
    select r.id, r.edge_id as "edgeId", r.domain_id as "domainId", rtrim(d.name, '.') as domain, r.target
    from ranked r join domains d on d.id = r.domain_id
    where r.rank <= ${MOST_OF_AN_EDGE} order by r.edge_id, r.rank`.execute(db);
  return rows;
}

interface ReportedPurge {
  readonly domainId: number;
  readonly target: PurgeTarget;
  readonly at: Date;
}

/** With `error`, the purge stays open. Returns undefined if this edge does not have the purge. */
export async function reportPurge(
  db: Database,
  edgeId: number,
  purgeId: number,
  error: string | undefined,
): Promise<ReportedPurge | undefined> {
  const { rows } = await sql<ReportedPurge>`
    update cache_purge_edges e set error = ${error ?? null},
      done_at = case when ${error === undefined}::boolean then coalesce(e.done_at, clock_timestamp()) else e.done_at end
    from cache_purges p
    where e.purge_id = ${purgeId} and e.edge_id = ${edgeId} and p.id = e.purge_id
    returning p.domain_id as "domainId", p.target, p.at`.execute(db);
  return rows[0];
}
