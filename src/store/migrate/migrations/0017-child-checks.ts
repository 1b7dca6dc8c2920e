// Checks of the delegated zone itself: the newest of each domain, and when the next one is due.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // `wanted_ns` is the delegation for which the check is due, `ns` the one that was checked.
  `create table child_checks (
     domain_id bigint primary key references domains on delete cascade,
     due_at timestamptz,
     wanted_ns text[] not null,
     ns text[],
     checked_at timestamptz,
     findings jsonb not null default '[]',
     evidence jsonb,
     queries integer
   ) with (fillfactor = 80)`,
  `create index child_checks_due on child_checks (due_at) where due_at is not null`,
];
