// Purges of what edges have cached. Each edge that may have something has a row: what it has not done yet is what it is told,
// so nothing is missed, in whichever order transactions commit.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table cache_purges (
     id bigint generated always as identity primary key,
     domain_id bigint not null references domains on delete cascade,
     target jsonb not null,
     at timestamptz not null default clock_timestamp(),
     -- a later one of the whole domain, when edges had not done this one yet
     replaced_by bigint
   )`,
  `create index cache_purges_of on cache_purges (domain_id, id)`,
  `create index cache_purges_at on cache_purges (at)`,
  `create table cache_purge_edges (
     purge_id bigint not null references cache_purges on delete cascade,
     edge_id bigint not null references edges on delete cascade,
     done_at timestamptz,
     -- why the edge could not do it when it last tried
     error text,
     primary key (purge_id, edge_id)
   )`,
  `create index cache_purge_edges_open on cache_purge_edges (edge_id, (error is not null), purge_id)
     where done_at is null`,
];
