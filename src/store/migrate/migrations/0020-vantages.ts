// Observers elsewhere, the jobs that workers make for them, and what they saw beside the run of a check.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // `given_address` is what the operator says, `seen_address` the one that it connects from.
  `create table vantages (
     name text collate "C" primary key,
     network text not null,
     public_key text not null unique,
     given_address text,
     seen_address text,
     created_at timestamptz not null default clock_timestamp(),
     seen_at timestamptz,
     answers bigint not null default 0,
     dropped bigint not null default 0
   ) with (fillfactor = 50)`,

  // Lost after a crash, as are the checks that wait for them. `ask` has the jobs of one check together.
  `create unlogged table vantage_jobs (
     id uuid primary key,
     ask uuid not null,
     vantage text collate "C" not null references vantages on delete cascade,
     name text not null,
     fresh boolean not null,
     thorough boolean not null,
     deadline timestamptz not null,
     taken_at timestamptz,
     answered_at timestamptz,
     evidence jsonb
   )`,
  `create index vantage_jobs_ask on vantage_jobs (ask)`,
  `create index vantage_jobs_new on vantage_jobs (vantage, deadline) where taken_at is null`,
  `create index vantage_jobs_deadline on vantage_jobs (deadline)`,

  // The nonces of requests, for as long as their times are accepted.
  `create unlogged table vantage_nonces (
     vantage text collate "C" not null,
     nonce text collate "C" not null,
     at timestamptz not null,
     primary key (vantage, nonce)
   )`,
  `create index vantage_nonces_at on vantage_nonces (at)`,

  `alter table check_runs add column vantages jsonb`,
];
