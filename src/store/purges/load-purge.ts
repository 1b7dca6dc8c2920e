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
  const [purge] = rows;
  if (purge === undefined) return undefined;
  const { rows: edges } = await sql<PurgeAtEdge>`
    select e.name, e.seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}) is true as "isLive",
      p.done_at as "doneAt", p.error
    from cache_purge_edges p join edges e on e.id = p.edge_id
    where p.purge_id = ${id} and e.revoked_at is null order by e.name`.execute(db);
  return { ...purge, edges };
}
