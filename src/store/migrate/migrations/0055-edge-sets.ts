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
  // Signed zones with proxied names: the version that was looked at, which sets it was signed for, when the first signature ends, and a
  // number of the newest change of such a name that was not looked at. Each index finds what is due for one reason.
  `create table edge_signings (
     zone_id bigint primary key references zones on delete cascade,
     zone_version bigint not null default 0,
     sets text collate "C" not null default '',
     expires_at timestamptz,
     changed bigint,
     leased_until timestamptz
   )`,
  `create index edge_signings_changed on edge_signings (changed) where changed is not null`,
  `create index edge_signings_sets on edge_signings (sets)`,
  `create index edge_signings_expires on edge_signings (expires_at)`,
];
