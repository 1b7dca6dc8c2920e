// By which domains an edge serves hosts: the longest name that a host ends with, if the edge's region serves it.

import { sql } from 'kysely';
import { namesAbove } from '../../edge/cached/cached-report.ts';
import { IS_SERVED } from '../edges/load-edge-configs.ts';
import type { Database } from '../postgres/database.ts';

/** Hosts that the edge does not serve are left out. Undefined: they have more names above them than one call may ask for. */
export async function findServedDomains(
  db: Database,
  region: string,
  hosts: ReadonlySet<string>,
  mostNames: number,
): Promise<ReadonlyMap<string, number> | undefined> {
  const names = new Set([...hosts].flatMap(namesAbove));
  if (names.size > mostNames) return undefined;
  const { rows } = await sql<{ id: number; name: string; isServed: boolean }>`
    select distinct on (d.name) d.id, rtrim(d.name, '.') as name,
      d.edge_regions is null or ${region} = any(d.edge_regions) as "isServed"
    from domains d
    where d.name = any(${[...names].map((name) => `${name}.`)}::text[]) and d.deleted_at is null and ${IS_SERVED}
    order by d.name, d.served = 'full' desc, d.id`.execute(db);
  const domains = new Map(rows.map((domain) => [domain.name, domain]));
  const served = new Map<string, number>();
  for (const host of hosts) {
    const name = namesAbove(host).find((each) => domains.has(each));
    const domain = name === undefined ? undefined : domains.get(name);
    if (domain?.isServed) served.set(host, domain.id);
  }
  return served;
}
