// The registry of edge nodes: tokens, regions, and the addresses that proxied names publish. Only the operator writes
// it.

import { sql } from 'kysely';
import { hashSecret, isSecretText, makeSecretText } from '../accounts/hashed-secrets.ts';
import type { Database } from '../postgres/database.ts';
import { announce, inTransaction } from '../postgres/transaction.ts';

/** A rule that the edge reports as unsupported. */
interface StoredUnsupported {
  readonly rule_id: number;
  readonly why: string;
}

export interface StoredEdge {
  readonly id: number;
  readonly name: string;
  readonly region: string;
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  readonly tokenPrefix: string;
  readonly tokenMadeAt: Date;
  readonly createdAt: Date;
  readonly drainedAt: Date | null;
  readonly revokedAt: Date | null;
  /** Time of the newest health report. */
  readonly seenAt: Date | null;
  /** Time of the newest call of any kind, accurate to half a minute. */
  readonly calledAt: Date | null;
  readonly seenAddress: string | null;
  readonly software: string | null;
  readonly load: number | null;
  readonly configCursor: string | null;
  readonly unsupported: readonly StoredUnsupported[];
  /** The database's time when the row was read. */
  readonly now: Date;
}

/** More edges than any fleet needs. It limits the work that depends on their number. */
const MOST_EDGES = 1000;
const PREFIX_CHARACTERS = 'edge_'.length + 6;

const COLUMNS = sql`e.id, e.name, e.region, e.v4, e.v6, e.token_prefix as "tokenPrefix", e.token_made_at as "tokenMadeAt",
  e.created_at as "createdAt", e.drained_at as "drainedAt", e.revoked_at as "revokedAt", e.seen_at as "seenAt",
  e.called_at as "calledAt",
  e.seen_address as "seenAddress", e.software, e.load, e.config_cursor as "configCursor",
  clock_timestamp() as now`;

export async function listEdges(db: Database): Promise<StoredEdge[]> {
  const { rows } = await sql<StoredEdge>`
    select ${COLUMNS}, (
      select coalesce(jsonb_agg(jsonb_build_object('rule_id', u.rule_id, 'why', u.why) order by u.rule_id), '[]')
      from edge_unsupported u where u.edge_id = e.id) as unsupported
    from edges e order by e.region, e.name`.execute(db);
  return rows;
}

/** Lists the edges that are not revoked. */
export async function listEdgeNames(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from edges where revoked_at is null`.execute(db);
  return rows.map(({ name }) => name);
}

interface NewEdge {
  readonly name: string;
  readonly region: string;
  /** In canonical form. */
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

type CreatedEdge =
  | { readonly kind: 'created'; readonly token: string }
  | { readonly kind: 'exists' }
  | { readonly kind: 'too_many'; readonly most: number }
  | { readonly kind: 'address_taken'; readonly address: string; readonly by: string };

/** The name of a revoked edge can be reused. The token is shown once. */
export async function createEdge(db: Database, { name, region, v4, v6 }: NewEdge): Promise<CreatedEdge> {
  return await inTransaction<CreatedEdge>(db, async (trx) => {
    await sql`lock table edges in share row exclusive mode`.execute(trx); // an address may belong to only one edge
    const live = (await listEdges(trx)).filter(({ revokedAt }) => revokedAt === null);
    if (live.some((edge) => edge.name === name)) return { kind: 'exists' };
    if (live.length >= MOST_EDGES) return { kind: 'too_many', most: MOST_EDGES };
    for (const address of [...v4, ...v6]) {
      const by = live.find((edge) => edge.v4.includes(address) || edge.v6.includes(address));
      if (by !== undefined) return { kind: 'address_taken', address, by: by.name };
    }
    const token = makeSecretText('edge_');
    await sql`
      delete from edges where name = ${name}`.execute(trx);
    await sql`
      insert into edges (name, region, v4, v6, token_hash, token_prefix)
      values (${name}, ${region}, ${[...v4]}, ${[...v6]}, ${hashSecret(token)}, ${shownOf(token)})`.execute(
      trx,
    );
    announce(trx);
    return { kind: 'created', token };
  });
}

/** Replaces the token and invalidates the old one. Returns undefined if the edge does not exist or is revoked. */
export async function rotateEdgeToken(db: Database, name: string): Promise<string | undefined> {
  const token = makeSecretText('edge_');
  const { numAffectedRows } = await sql`
    update edges set token_hash = ${hashSecret(token)}, token_prefix = ${shownOf(token)}, token_made_at = clock_timestamp()
    where name = ${name} and revoked_at is null`.execute(db);
  if (numAffectedRows !== 1n) return undefined;
  announce(db);
  return token;
}

function shownOf(token: string): string {
  return token.slice(0, PREFIX_CHARACTERS);
}

/** Drains an edge: proxied names no longer publish its addresses, so it gets no new visitors. It still receives configs. */
export async function drainEdge(
  db: Database,
  name: string,
  isDrained: boolean,
): Promise<'changed' | 'unchanged' | 'absent'> {
  const { rows } = await sql<{ wasDrained: boolean }>`
    with known as materialized (
      select id, drained_at is not null as was from edges where name = ${name} and revoked_at is null for update),
    changed as (
      update edges e set drained_at = case when ${isDrained}::boolean then clock_timestamp() end from known k
      where e.id = k.id and k.was <> ${isDrained}::boolean)
    select was as "wasDrained" from known`.execute(db);
  const [known] = rows;
  if (known === undefined) return 'absent';
  if (known.wasDrained === isDrained) return 'unchanged';
  announce(db);
  return 'changed';
}

/** Revokes an edge: its token is no longer valid, and its addresses are no longer published. */
export async function revokeEdge(db: Database, name: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update edges set revoked_at = clock_timestamp() where name = ${name} and revoked_at is null`.execute(db);
  if (numAffectedRows !== 1n) return false;
  announce(db);
  return true;
}

export interface FoundEdge {
  readonly id: number;
  readonly name: string;
  readonly region: string;
  readonly isDrained: boolean;
  readonly tokenHash: Buffer;
  readonly state: 'valid' | 'revoked';
}

export function isEdgeToken(text: string): boolean {
  return isSecretText('edge_', text);
}

/** Returns edges by the hash of their token in hexadecimal. */
export async function findEdges(db: Database, hashes: readonly Buffer[]): Promise<Map<string, FoundEdge>> {
  const { rows } = await sql<FoundEdge>`
    select id, name, region, drained_at is not null as "isDrained", token_hash as "tokenHash",
      case when revoked_at is null then 'valid' else 'revoked' end as state
    from edges where token_hash = any(${hashes}::bytea[])`.execute(db);
  return new Map(rows.map((edge) => [edge.tokenHash.toString('hex'), edge]));
}

/** Returns the hashes of the valid tokens, by edge. */
export async function loadLiveTokens(db: Database, ids: readonly number[]): Promise<Map<number, Buffer>> {
  const { rows } = await sql<{ id: number; hash: Buffer }>`
    select id, token_hash as hash from edges where id = any(${ids}::bigint[]) and revoked_at is null`.execute(
    db,
  );
  return new Map(rows.map(({ id, hash }) => [id, hash]));
}

export async function noteEdgeCall(db: Database, id: number): Promise<void> {
  await sql`update edges set called_at = clock_timestamp() where id = ${id}`.execute(db);
}

interface EdgeHealth {
  readonly load: number;
  readonly software: string;
  readonly cursor: string | undefined;
  readonly unsupported: readonly StoredUnsupported[];
  /** The address that the edge calls from. Null leaves the stored address unchanged. */
  readonly address: string | null;
}

export async function saveEdgeHealth(
  db: Database,
  { id, tokenHash }: Pick<FoundEdge, 'id' | 'tokenHash'>,
  { load, software, cursor, unsupported, address }: EdgeHealth,
): Promise<void> {
  await sql`
    with reporting as (
      update edges set seen_at = clock_timestamp(), seen_address = coalesce(${address}, seen_address),
        software = ${software}, load = ${load}, config_cursor = ${cursor ?? null}
      where id = ${id} and token_hash = ${tokenHash} and revoked_at is null returning id),
    told as materialized (
      select distinct on (t.rule_id) r.id as edge_id, t.rule_id, t.why
      from reporting r, jsonb_to_recordset(${JSON.stringify(unsupported)}::jsonb) t (rule_id bigint, why text)
      order by t.rule_id),
    gone as (
      delete from edge_unsupported u using reporting r
      where u.edge_id = r.id and not exists (select from told t where t.rule_id = u.rule_id))
    insert into edge_unsupported as u (rule_id, edge_id, why) select rule_id, edge_id, why from told
    on conflict (rule_id, edge_id) do update set why = excluded.why where u.why <> excluded.why`.execute(db);
}
