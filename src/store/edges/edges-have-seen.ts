// Whether the edges say that they have been told the newest change of a domain.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { decodeEdgeCursor, type EdgeCursor } from './edge-cursor.ts';

/** Edges report every ten seconds; one that was not heard of for so long is not waited for. */
const SILENT_SECONDS = 35;

/** All that live, and one does. */
export async function edgesHaveSeen(db: Database, domainId: number): Promise<boolean> {
  const { rows } = await sql<{ cursor: string | null; xid: string }>`
    select e.config_cursor as cursor, c.xid::text as xid
    from domains d join edge_changes c on c.name = d.name cross join edges e
    where d.id = ${domainId} and e.revoked_at is null
      and e.seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS})`.execute(db);
  return rows.length > 0 && rows.every(({ cursor, xid }) => hasSeen(cursor, BigInt(xid)));
}

function hasSeen(text: string | null, xid: bigint): boolean {
  const cursor: EdgeCursor | undefined = text === null ? undefined : decodeEdgeCursor(text);
  if (cursor === undefined || cursor.after !== undefined) return false;
  const { from, inFlight } = cursor.place;
  return xid < from && !inFlight.includes(xid);
}
