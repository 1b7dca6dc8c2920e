// Numbers for the plan of a migration. They are estimates of Postgres or cheap counts, so that a plan can be made at any time.

import { sql } from 'kysely';
import { loadPublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';

export interface TableSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Assumed for tables that Postgres has not analyzed yet, such as after a restore. */
const OCTETS_PER_ROW = 100;

/** Returns the sizes by the table's name. Tables that do not exist are missing. */
export async function loadTableSizes(
  db: Database,
  tables: readonly string[],
): Promise<Map<string, TableSize>> {
  const { rows } = await sql<{ name: string; rows: number; bytes: number }>`
    select relname as name, pg_total_relation_size(oid)::float8 as bytes,
      case when reltuples < 0 then pg_relation_size(oid) / ${OCTETS_PER_ROW} else reltuples end::float8 as rows
    from pg_class where relnamespace = 'public'::regnamespace and relname = any(${tables}::text[])`.execute(
    db,
  );
  return new Map(rows.map(({ name, rows, bytes }) => [name, { rows, bytes }]));
}

export interface DomainsToRepublish {
  readonly domains: number;
  /** The domains among them that are signed, which takes longer. */
  readonly signed: number;
}

/** Counts all answered domains, or with `all` false those that an interrupted migration has not republished yet. */
export async function countDomainsToRepublish(db: Database, all: boolean): Promise<DomainsToRepublish> {
  const { generations, generation } = await loadPublishSettings(db);
  if (!all && generations.published >= generation) return { domains: 0, signed: 0 };
  const { rows } = await sql<DomainsToRepublish>`
    select count(*)::float8 as domains, count(s.domain_id)::float8 as signed
    from domains d left join signed_zones s on s.domain_id = d.id and s.phase <> 'off'
    where d.served <> 'none' and (${all} or d.answers_generation < ${generation})`.execute(db);
  return rows[0] as DomainsToRepublish;
}
