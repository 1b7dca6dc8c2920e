// The addresses of our edges, which are no origins: those that the settings name and those of registered edges.

import { sql } from 'kysely';
import { isExample } from '../../edge/judge-origin.ts';
import type { Database } from '../postgres/database.ts';

interface EdgeAddresses {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

/** `settings`: what proxied names publish by default. Until operators have set them, they are examples. */
export async function loadOwnEdges(db: Database, { v4, v6 }: EdgeAddresses): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select distinct unnest(v4 || v6) as address from edges where revoked_at is null`.execute(db);
  const published = [...v4, ...v6].filter((address) => !isExample(address));
  return [...published, ...rows.map(({ address }) => address)];
}
