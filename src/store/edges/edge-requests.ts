// Requests that edges report: the batches received, kept for a day so that a repeated one is answered like the first
// and changes nothing, and what their hosts and visitors are counted under.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { FoundEdge } from './edges.ts';
import { IS_SERVED } from './load-edge-configs.ts';

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

/** Of several (also concurrent) calls with one batch, only one saves it. */
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

export interface HostDomain {
  readonly id: number;
  /** Edges of the region serve it, as `readKey` judges it. */
  readonly isHere: boolean;
}

/**
 * Loads which names are domains that edges serve, and whether edges of one region do. By name without the final dot;
 * other names are left out.
 */
export async function loadHostDomains(
  db: Database,
  region: string,
  names: readonly string[],
): Promise<Map<string, HostDomain>> {
  const { rows } = await sql<HostDomain & { name: string }>`
    select distinct on (d.name) rtrim(d.name, '.') as name, d.id,
      (d.edge_regions is null or ${region} = any(d.edge_regions)) as "isHere"
    from domains d
    where d.name = any(${names.map((name) => `${name}.`)}::text[]) and d.deleted_at is null and ${IS_SERVED}
    order by d.name, d.served = 'full' desc, d.id`.execute(db);
  return new Map(rows.map(({ name, id, isHere }) => [name, { id, isHere }]));
}

export interface NameIn {
  readonly domainId: number;
  /** Without the final dot. */
  readonly name: string;
}

/** Returns those of the wanted names that have proxied records. */
export async function loadProxiedNames(db: Database, wanted: readonly NameIn[]): Promise<NameIn[]> {
  const { rows } = await sql<NameIn>`
    select w.domain_id as "domainId", rtrim(w.name, '.') as name
    from unnest(${wanted.map(({ domainId }) => domainId)}::bigint[],
      ${wanted.map(({ name }) => `${name}.`)}::text[]) w (domain_id, name)
    where exists (select from records r where r.domain_id = w.domain_id and r.name = w.name and r.proxied)`.execute(
    db,
  );
  return rows;
}

/**
 * Loads the key with which visitors of proxied names become numbers. It was made once, with the database, and never
 * changes: with another key, every visitor would be a new one. Secrets sealed by KEY_SECRETS change with them; this
 * one must not.
 */
export async function loadVisitorKey(db: Database): Promise<Buffer> {
  const { rows } = await sql<{ key: Buffer }>`select key from visitor_key`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the table visitor_key is empty');
  return row.key;
}
