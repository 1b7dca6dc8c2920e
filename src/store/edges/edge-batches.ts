// The batches of requests that edges have reported, for a day: a repeat of one is answered as the first time, and changes nothing.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { FoundEdge } from './edges.ts';

/** How many lines were taken, and how many were not, by why. */
export interface BatchCounts {
  readonly accepted: number;
  readonly dropped: Readonly<Record<'line' | 'time' | 'host', number>>;
}

interface BatchRow {
  readonly accepted: number;
  readonly line: number;
  readonly time: number;
  readonly host: number;
}

const COLUMNS = sql`b.accepted, b.dropped_lines as line, b.dropped_times as time, b.dropped_hosts as host`;

export async function findBatch(
  db: Database,
  edgeId: number,
  batch: string,
): Promise<BatchCounts | undefined> {
  const { rows } = await sql<BatchRow>`
    select ${COLUMNS} from edge_batches b where b.edge_id = ${edgeId} and b.batch = ${batch}`.execute(db);
  return countsOf(rows[0]);
}

type SavedBatch =
  | { readonly kind: 'saved' }
  /** Another call has saved it before. */
  | { readonly kind: 'known'; readonly counts: BatchCounts }
  /** The token has been revoked or changed meanwhile. */
  | { readonly kind: 'revoked' };

/** Of several calls with one batch, also at once, one saves it. */
export async function saveBatch(
  db: Database,
  { id, tokenHash }: Pick<FoundEdge, 'id' | 'tokenHash'>,
  batch: string,
  { accepted, dropped }: BatchCounts,
): Promise<SavedBatch> {
  const { numAffectedRows } = await sql`
    insert into edge_batches (edge_id, batch, accepted, dropped_lines, dropped_times, dropped_hosts)
    select e.id, ${batch}, ${accepted}::integer, ${dropped.line}::integer, ${dropped.time}::integer, ${dropped.host}::integer
    from edges e where e.id = ${id} and e.token_hash = ${tokenHash} and e.revoked_at is null
    on conflict (edge_id, batch) do nothing`.execute(db);
  if (numAffectedRows === 1n) return { kind: 'saved' };
  const counts = await findBatch(db, id, batch);
  return counts === undefined ? { kind: 'revoked' } : { kind: 'known', counts };
}

function countsOf(row: BatchRow | undefined): BatchCounts | undefined {
  if (row === undefined) return undefined;
  const { accepted, ...dropped } = row;
  return { accepted, dropped };
}
