// Stores the batches of requests that edges report, for a day, so that a repeated batch gets the same response and
// changes nothing. Also resolves the hosts and visitors that requests are counted under.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { FoundEdge } from './edges.ts';
import { IS_SERVED } from './load-edge-configs.ts';

/** Numbers of accepted lines, and of dropped lines by reason. */
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
  /** An earlier call has saved the batch. */
  | { readonly kind: 'known'; readonly counts: BatchCounts }
  /** The token has been revoked or replaced in the meantime. */
  | { readonly kind: 'revoked' };

/** Saves a batch. Only one of several (also concurrent) calls with the same batch saves it. */
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
  /** True if edges of the region serve the domain, as in `readKey`. */
  readonly isHere: boolean;
}

/**
 * Finds the names that are domains served by edges, and whether edges of this region serve them. Names are without the
 * final dot. Other names have no entry.
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
 * Loads the key that converts visitors of proxied names to numbers. It is created with the database and must never
 * change, unlike secrets sealed by KEY_SECRETS: with another key, every visitor would count as new.
 */
export async function loadVisitorKey(db: Database): Promise<Buffer> {
  const { rows } = await sql<{ key: Buffer }>`select key from visitor_key`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the table visitor_key is empty');
  return row.key;
}
