// Fair shares: checks take turns by account, and what workers remember together of addresses and parents that are silent.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table domain_checks
     add column unknowns integer not null default 0,
     add column given_back integer not null default 0,
     add column given_back_since timestamptz`,
  `drop index domain_checks_due`,
  `create index domain_checks_due_2 on domain_checks (account_id, parent, due_at) where due_at is not null`,
  // Domains that were never checked: there are few at a time, and they are the first of their account.
  `create index domain_checks_new on domain_checks (account_id, due_at) where due_at is not null and last_run_id is null`,

  // What an account has used lately, faded to the time \`at\`. Lost after a crash: then all are alike.
  `create unlogged table check_shares (
     account_id bigint primary key,
     slot_ms double precision not null,
     manual double precision not null,
     at timestamptz not null
   ) with (fillfactor = 50)`,

  // Addresses that were asked: whether each has sent a valid reply lately, and how often one that has not was asked.
  `create unlogged table resolver_addresses (
     address text collate "C" primary key,
     replied_at timestamptz,
     silences integer not null default 0,
     window_at timestamptz not null,
     asked integer not null default 0,
     open_until timestamptz
   ) with (fillfactor = 50)`,
  `create index resolver_addresses_window on resolver_addresses (window_at)`,

  // Addresses and parents whose silence is remembered (RFC 9520).
  `create unlogged table resolver_silences (
     key text collate "C" primary key,
     count integer not null,
     until timestamptz not null,
     noted_at timestamptz not null
   ) with (fillfactor = 50)`,
  `create index resolver_silences_noted on resolver_silences (noted_at)`,
];
