// What each region publishes for proxied names: one row for the whole fleet, which workers write and nodes follow; and how far the
// signatures over these sets are made in each signed zone.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table edge_sets (
     single boolean primary key default true check (single),
     sets jsonb not null,
     members jsonb not null,
     held jsonb,
     decided_at timestamptz not null default now()
   )`,
  `insert into edge_sets (sets, members) values ('{"version": 0, "regions": [], "countries": {}}', '{}')`,
  // The version of the zone that was looked at, which sets it was signed for, and when the first signature ends.
  `create table edge_signings (
     zone_id bigint primary key references zones on delete cascade,
     zone_version bigint not null,
     sets text not null,
     expires_at timestamptz
   )`,
];
