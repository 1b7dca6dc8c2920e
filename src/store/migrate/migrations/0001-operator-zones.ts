// Operator zones, their records, the change feed, nodes and settings.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create sequence change_version as bigint`,

  // A deleted zone keeps its row as a tombstone: a concurrent load finds a row to lock, and its version goes on rising.
  `create table zones (
     id bigint generated always as identity primary key,
     name text collate "C" not null unique check (name = lower(name) and name like '%.'),
     kind text not null check (kind in ('operator', 'domain')),
     version bigint not null,
     mark bigint not null,
     records integer not null check (records >= 0),
     complete_since bigint not null default 0,
     deleted_at timestamptz
   )`,
  `create index zones_deleted on zones (deleted_at) where deleted_at is not null`,

  // One row for each record that a zone has or had, revived when it comes back: no surrogate key, no second index.
  `create table zone_records (
     zone_id bigint not null references zones on delete cascade,
     owner text collate "C" not null,
     type integer not null check (type between 1 and 65535),
     ttl bigint not null check (ttl between 0 and 2147483647),
     rdata bytea not null check (octet_length(rdata) <= 65535),
     version bigint not null,
     removed boolean not null default false
   )`,
  // Rdata can be longer than an index entry may be (about 2,700 octets): longer than 32, its hash with one octet more
  // stands for it, which no short rdata can equal.
  `create unique index zone_records_identity on zone_records
     (zone_id, owner, type, (case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\\x00'::bytea end))`,
  `create index zone_records_version on zone_records (zone_id, version)`,
  `create index zone_records_removed on zone_records (version) where removed`,

  // The zone is named by text too: a change outlives a purged zone.
  `create table changes (
     id bigint primary key,
     zone_id bigint not null,
     zone text collate "C" not null,
     operation text not null,
     source text not null,
     actor text,
     at timestamptz not null default clock_timestamp(),
     xid xid8 not null default pg_current_xact_id(),
     mark bigint not null
   )`,
  `create index changes_feed on changes (xid, id)`,
  `create index changes_at on changes (at)`,
  `create index changes_zone on changes (zone_id, id)`,

  `create table nodes (
     name text primary key,
     instance uuid not null,
     started_at timestamptz not null,
     seen_at timestamptz not null default clock_timestamp(),
     left_at timestamptz,
     loaded boolean not null default false,
     epoch text,
     position bigint,
     snapshot pg_snapshot,
     zones integer not null default 0,
     records bigint not null default 0,
     held_id uuid,
     held_since timestamptz,
     held_zones integer not null default 0,
     confirmed_id uuid
   )`,

  `create table feed (
     single boolean primary key default true check (single),
     epoch uuid not null default gen_random_uuid(),
     purged_xid xid8 not null default '0',
     purged_at timestamptz not null default clock_timestamp()
   )`,
  `insert into feed default values`,

  `create table settings (name text primary key, value jsonb not null)`,
];
