// Tickets: what accounts ask the operator, and what is answered.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table tickets (
     id bigint generated always as identity primary key,
     account_id bigint not null references accounts,
     subject text not null,
     -- open: it waits for the operator; answered: for the account
     status text collate "C" not null check (status in ('open', 'answered', 'closed')),
     -- a plan of the account had dedicated support when it was opened
     priority boolean not null,
     created_at timestamptz not null default clock_timestamp(),
     updated_at timestamptz not null default clock_timestamp(),
     -- when the account was last told of an answer by mail
     mailed_at timestamptz,
     messages integer not null default 0
   )`,
  `create index tickets_of on tickets (account_id, id)`,
  `create index tickets_open on tickets (priority, id) where status = 'open'`,
  `create index tickets_closed on tickets (updated_at) where status = 'closed'`,

  `create table ticket_messages (
     id bigint generated always as identity primary key,
     ticket_id bigint not null references tickets on delete cascade,
     is_staff boolean not null,
     -- null: the command line
     account_id bigint references accounts,
     message text not null,
     created_at timestamptz not null default clock_timestamp()
   )`,
  `create index ticket_messages_of on ticket_messages (ticket_id, id)`,
];
