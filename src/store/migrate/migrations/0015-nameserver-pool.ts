// The combinations of the nameserver pool that were given, and the set that each account has.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // A row stays for ever, also when its account is gone: nobody else may get that set. So account_id references nothing.
  // names: one of each list, in the order of the lists.
  `create table given_ns_sets (
     names text[] primary key,
     kind text not null check (kind in ('exclusive', 'substitute', 'shared')),
     account_id bigint,
     given_at timestamptz not null default clock_timestamp(),
     check ((kind = 'exclusive') = (account_id is not null))
   )`,
  `create index given_ns_sets_kind on given_ns_sets (kind)`,
  `create table account_ns_sets (
     account_id bigint primary key,
     names text[] not null references given_ns_sets,
     given_at timestamptz not null default clock_timestamp()
   )`,
];
