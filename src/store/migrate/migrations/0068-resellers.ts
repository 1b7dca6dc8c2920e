// Machine tokens of resellers, what they may do in a day, and answers that are kept for ever since money moved.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table reseller_tokens (
     id bigint generated always as identity primary key,
     account_id bigint not null references accounts,
     name text not null,
     -- the part of the token that is shown
     key_id text collate "C" not null unique,
     -- the SHA-256 of the whole token
     hash bytea not null unique check (octet_length(hash) = 32),
     expires_at timestamptz,
     revoked_at timestamptz,
     last_used_at timestamptz,
     created_at timestamptz not null default clock_timestamp()
   )`,
  `create index reseller_tokens_of on reseller_tokens (account_id, id)`,

  // What the operator has deactivated no reseller activates.
  `alter table accounts add column deactivated_by bigint`,

  // How many clients a reseller has tried to make since its day began.
  `create table client_tries (
     account_id bigint primary key references accounts,
     since timestamptz not null,
     tries integer not null
   )`,

  `alter table audit_log drop constraint audit_log_actor_kind_check`,
  `alter table audit_log add constraint audit_log_actor_kind_check
     check (actor_kind in ('session', 'key', 'token', 'cli', 'system')) not valid`,

  // Their answers are kept whole, and count for no limit. Housekeeping passes over them.
  `alter table idempotency_keys add column for_ever boolean not null default false`,
  `drop index idempotency_keys_created`,
  `create index idempotency_keys_created on idempotency_keys (created_at) where not for_ever`,
];
