// The audit log. It refers to accounts, domains and changes by their numbers only, since it stays when they are gone.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table audit_log (
     id bigint generated always as identity primary key,
     at timestamptz not null default clock_timestamp(),
     action text collate "C" not null,
     actor_kind text collate "C" not null check (actor_kind in ('session', 'key', 'cli', 'system')),
     actor_account_id bigint,
     actor_key_id bigint,
     actor_address text,
     actor_name text,
     account_id bigint,
     domain_id bigint,
     change_id bigint,
     target_id bigint,
     target_name text,
     before jsonb,
     after jsonb,
     failed_minute timestamptz
   )`,
  `create index audit_log_at on audit_log (at)`,
  `create index audit_log_action on audit_log (action, id)`,
  `create index audit_log_domain on audit_log (domain_id, id) where domain_id is not null`,
  `create index audit_log_account on audit_log (account_id, id) where account_id is not null`,
  `create index audit_log_actor on audit_log (actor_account_id, id) where actor_account_id is not null`,
  `create index audit_log_system on audit_log (actor_kind, id) where actor_kind in ('cli', 'system')`,
  // One row a minute for the failures of an account.
  `create unique index audit_log_failures on audit_log (failed_minute, account_id) where failed_minute is not null`,
];
