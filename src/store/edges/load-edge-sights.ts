// How far each edge says that it is with what it is told of a domain.

import { sql } from 'kysely';
import type { EdgeSight } from '../../edge/certificates/judge-sights.ts';
import type { Database } from '../postgres/database.ts';
import { decodeEdgeCursor, type EdgeCursor } from './edge-cursor.ts';
import { EDGE_EPOCH_SQL } from './read-edge-feed.ts';

/** Edges report every ten seconds; one that was not heard of for so long may be dead. */
const SILENT_SECONDS = 35;

/** Of those that serve the domain. */
export async function loadEdgeSights(db: Database, domainId: number): Promise<EdgeSight[]> {
  const { rows } = await sql<SightRow>`
    with head as materialized (select ${EDGE_EPOCH_SQL} as epoch from feed limit 1)
    select e.v4 || e.v6 as addresses, e.config_cursor as cursor, c.xid::text as xid, head.epoch,
      coalesce(e.seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}), false) as "isHeard"
    from head cross join domains d join edge_changes c on c.name = d.name cross join edges e
    where d.id = ${domainId} and e.revoked_at is null
      and (d.edge_regions is null or e.region = any(d.edge_regions))
    order by e.id`.execute(db);
  return rows.map(({ addresses, cursor, xid, epoch, isHeard }) => ({
    addresses,
    isHeard,
    seen: cursor === null ? 'untold' : hasSeen(cursor, { epoch, xid: BigInt(xid) }) ? 'yes' : 'no',
  }));
}

interface SightRow {
  readonly addresses: string[];
  readonly cursor: string | null;
  readonly xid: string;
  readonly epoch: string;
  readonly isHeard: boolean;
}

/** A place in the history of another database says nothing of this one. */
function hasSeen(text: string, { epoch, xid }: { readonly epoch: string; readonly xid: bigint }): boolean {
  const cursor: EdgeCursor | undefined = decodeEdgeCursor(text);
  if (cursor === undefined || cursor.after !== undefined || cursor.place.epoch !== epoch) return false;
  const { from, inFlight } = cursor.place;
  return xid < from && !inFlight.includes(xid);
}
