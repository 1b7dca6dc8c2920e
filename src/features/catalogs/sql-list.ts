// Lists catalogs and the members of those that this fleet produces, and counts both for metrics.

import { sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import { loadConsumers } from './sql-consumers.ts';

type CatalogRole = 'producer' | 'consumer';

/** Returns undefined if there is no such catalog. `name` is in stored form. */
export async function roleOf(db: Database, name: string): Promise<CatalogRole | undefined> {
  const { rows } = await sql<{ role: CatalogRole }>`select role from catalogs where name = ${name}`.execute(
    db,
  );
  return rows[0]?.role;
}

/** `full`: the limit of members is reached, so that no zone joins. */
type ProducerState = 'current' | 'full';
/** The states of catalogs of both roles. */
export const CATALOG_STATES = ['current', 'full', 'waiting', 'partial', 'held', 'broken'] as const;

interface ListedProducer {
  readonly catalog: string;
  readonly state: ProducerState;
  /** Number of members that are listed, including those that move to another catalog. */
  readonly members: number;
  readonly maxMembers: number;
  readonly selects: 'all' | 'account' | null;
  readonly accountId: number | null;
  readonly isGroupedByPolicy: boolean;
  /** Null for the default policy. */
  readonly policy: string | null;
  readonly findings: readonly { readonly code: string; readonly message: string }[];
  readonly serial: number | null;
}

export async function loadProducers(db: Database): Promise<ListedProducer[]> {
  const { rows } = await sql<ListedProducer>`
    select c.name as catalog, case when c.findings = '[]' then 'current' else 'full' end as state,
      (select count(*)::integer from catalog_members m where m.catalog_id = c.id) as members,
      c.max_members as "maxMembers", c.selects, c.account_id as "accountId", c.group_by_policy as "isGroupedByPolicy",
      p.name as policy, c.findings, (
        select ('x' || encode(substr(r.rdata, octet_length(r.rdata) - 19, 4), 'hex'))::bit(32)::bigint
        from zone_records r where r.zone_id = z.id and r.owner = z.name and r.type = 6 and not r.removed) as serial
    from catalogs c left join zones z on z.name = c.name left join transfer_policies p on p.id = z.policy_id
    where c.role = 'producer' order by c.name`.execute(db);
  return rows;
}

interface ListedMember {
  readonly zone: string;
  /** Null if the zone was added by hand, and nodes do not serve it whole. */
  readonly label: string | null;
  readonly group: string | null;
  /** The catalog to which the member moves. */
  readonly movesTo: string | null;
}

const PAGE = 1000;

/** Yields the members of a catalog of this fleet by name, with those that were added by hand and are not listed. */
export async function* listMembers(db: Database, catalog: string): AsyncGenerator<ListedMember> {
  for (let after = ''; ; ) {
    const { rows } = await sql<ListedMember>`
      with listed as (
        (select m.name, m.label, m.group_name, o.name as moves_to
        from catalogs c join catalog_members m on m.catalog_id = c.id left join catalogs o on o.id = m.moved_to
        where c.name = ${catalog} and m.name > ${after} order by m.name limit ${PAGE})
        union all
        (select n.name, null, null, null from catalogs c join catalog_names n on n.catalog_id = c.id
        where c.name = ${catalog} and n.name > ${after}
          and not exists (select from catalog_members m where m.catalog_id = c.id and m.name = n.name)
        order by n.name limit ${PAGE}))
      select name as zone, label, group_name as group, moves_to as "movesTo" from listed order by name limit ${PAGE}`.execute(
      db,
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.zone;
  }
}

export interface CatalogCounts {
  /** Number of catalogs, by state. */
  readonly states: ReadonlyMap<string, number>;
  /** Number of members, by catalog. */
  readonly members: ReadonlyMap<string, number>;
}

export async function countCatalogs(db: Database): Promise<CatalogCounts> {
  const all = [...(await loadProducers(db)), ...(await loadConsumers(db))];
  const states = new Map<string, number>();
  for (const { state } of all) states.set(state, (states.get(state) ?? 0) + 1);
  return { states, members: new Map(all.map(({ catalog, members }) => [catalog, members])) };
}
