// Which names of domains have proxied records.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export interface NameIn {
  readonly domainId: number;
  /** Without the final dot. */
  readonly name: string;
}

/** Those of `wanted` that have one. */
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
