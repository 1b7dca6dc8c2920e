// Which names are domains that edges serve, and whether edges of one region do.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { IS_SERVED } from './load-edge-configs.ts';

export interface HostDomain {
  readonly id: number;
  /** Edges of the region serve it, as `readKey` judges it. */
  readonly isHere: boolean;
}

/** By name without the final dot; a name that is missing is no domain that edges serve. */
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
