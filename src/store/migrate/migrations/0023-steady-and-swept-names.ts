// What checks remember of a delegation that comes and goes, and the names that are looked at after their domains have gone.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Four octets of a hash of what the newest confirmed check saw, and when that changed within a day: at most 32 times.
  'alter table domain_checks add column seen_ns integer, add column ns_changed_at timestamptz[]',
  // A domain may wait without a zone since 0016, and the domains inside a name are looked for among all.
  'drop index domains_below',
  'create index domains_below on domains (reverse(name) collate "C") where deleted_at is null',
  // The names whose last domain has ended, and that are still looked at: at most a thousand of an account.
  `create table swept_names (
     name text collate "C" primary key,
     account_id bigint not null,
     ended_at timestamptz not null,
     due_at timestamptz not null,
     is_shown boolean not null default true
   )`,
  'create index swept_names_due on swept_names (account_id, due_at)',
];
