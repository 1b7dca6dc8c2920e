-- Tickets: questions of accounts to the operator, and the replies.

create table tickets (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  subject text not null,
  -- An open ticket waits for the operator, an answered one for the account.
  status text collate "C" not null check (status in ('open', 'answered', 'closed')),
  -- True if a plan of the account included dedicated support when the ticket was opened.
  priority boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- When the account was last mailed about a reply.
  mailed_at timestamptz,
  -- Number of messages.
  messages integer not null default 0
);
create index tickets_of on tickets (account_id, id);
create index tickets_open on tickets (priority, id) where status = 'open';
create index tickets_closed on tickets (updated_at) where status = 'closed';

create table ticket_messages (
  id bigint generated always as identity primary key,
  ticket_id bigint not null references tickets on delete cascade,
  is_staff boolean not null,
  -- Null if it was written on the command line.
  account_id bigint references accounts,
  message text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index ticket_messages_of on ticket_messages (ticket_id, id);
