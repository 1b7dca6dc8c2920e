// How far a purge is: which edges have done it.

import { sql } from 'kysely';
import type { PurgeTarget } from '../../edge/purges/purge-target.ts';
import type { Database } from '../postgres/database.ts';

export interface StoredPurge {
  readonly id: number;
  readonly target: PurgeTarget;
  readonly at: Date;
  /** The purge of the whole domain that edges do in its place. */
  readonly replacedBy: number | null;
  /** By name. */
  readonly edges: readonly PurgeAtEdge[];
}

interface PurgeAtEdge {
  readonly name: string;
  /** It is heard: an edge that is silent gets no visitors, and does the purge when it is back. */
  readonly isLive: boolean;
  readonly doneAt: Date | null;
  readonly error: string | null;
}

/** An edge is silent when nothing was heard of it for so long. */
const SILENT_SECONDS = 60;

/** Undefined: the domain has no such purge, or it is too old. */
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

/** The newest first. */
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
