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

/** The oldest of each edge first. */
export async function loadOpenPurges(db: Database, edgeIds: readonly number[]): Promise<OpenPurge[]> {
  const { rows } = await sql<OpenPurge>`
    select o.id, e.id as "edgeId", o.domain_id as "domainId", rtrim(d.name, '.') as domain, o.target
    from unnest(${[...edgeIds]}::bigint[]) e (id) cross join lateral (
      select p.id, p.domain_id, p.target from cache_purge_edges c join cache_purges p on p.id = c.purge_id
      where c.edge_id = e.id and c.done_at is null order by c.purge_id limit ${MOST_OF_AN_EDGE}) o
    join domains d on d.id = o.domain_id
    order by o.id`.execute(db);
  return rows;
}

/** With `error` it stays to be done. False: nothing of the kind is asked of this edge. */
export async function reportPurge(
  db: Database,
  edgeId: number,
  purgeId: number,
  error: string | undefined,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update cache_purge_edges set error = ${error ?? null},
      done_at = case when ${error === undefined}::boolean then coalesce(done_at, clock_timestamp()) else done_at end
    where purge_id = ${purgeId} and edge_id = ${edgeId}`.execute(db);
  return numAffectedRows === 1n;
}
