// What edges still have to purge, and their word that they have.

import { sql } from 'kysely';
import type { PurgeTarget } from '../../edge/purges/purge-target.ts';
import type { Database } from '../postgres/database.ts';

export interface OpenPurge {
  readonly id: number;
  readonly edgeId: number;
  readonly domainId: number;
  /** Without the final dot. */
  readonly domain: string;
  readonly target: PurgeTarget;
}

/** An edge is told of no more at a time: of the rest when it has done these. */
const MOST_OF_AN_EDGE = 200;
/** Among which these are found; of each kind, those that the edge could not do and the others. */
const LOOKED_AT = 2000;

/** One of each domain in turn, so that nobody's many are before another's; what the edge could not do comes last. */
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

/** With `error` it stays to be done. Undefined: nothing of the kind is asked of this edge. */
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
