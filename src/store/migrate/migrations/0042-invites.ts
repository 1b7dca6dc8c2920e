// Invites to share a domain: the tokens of their links, and how many were sent lately.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // `email_key` is the email as it is compared. An invite without `invited_by` is the operator's.
  `create table invites (
     id bigint generated always as identity primary key,
     domain_id bigint not null references domains on delete cascade,
     email text not null,
     email_key text collate "C" not null,
     role text not null check (role in ('admin', 'editor', 'viewer')),
     invited_by bigint references accounts,
     invited_by_email text,
     status text not null default 'open' check (status in ('open', 'accepted', 'revoked')),
     created_at timestamptz not null default clock_timestamp(),
     sent_at timestamptz not null default clock_timestamp(),
     expires_at timestamptz not null,
     ended_at timestamptz,
     accepted_by bigint references accounts,
     check ((status = 'open') = (ended_at is null)),
     check ((status = 'accepted') = (accepted_by is not null))
   )`,
  `create unique index invites_open on invites (domain_id, email_key) where status = 'open'`,
  `create index invites_domain on invites (domain_id, id)`,
  `create index invites_email on invites (email_key) where status = 'open'`,
  `create index invites_inviter on invites (invited_by) where status = 'open'`,
  `create index invites_expires on invites (expires_at)`,

  // One link is in the answer, another in the mail: only the mailed one shows that somebody reads the address.
  `create table invite_tokens (
     hash bytea primary key,
     invite_id bigint not null references invites on delete cascade,
     proves_email boolean not null
   )`,
  `create index invite_tokens_invite on invite_tokens (invite_id)`,

  // What was sent lately, by what it is counted for: a domain, an account, an address.
  `create table invite_windows (
     subject text collate "C" primary key,
     count integer not null,
     ends_at timestamptz not null
   ) with (fillfactor = 50)`,
  `create index invite_windows_ends on invite_windows (ends_at)`,

  `alter table mails add column invite_id bigint references invites on delete cascade`,
  `create index mails_invite on mails (invite_id) where invite_id is not null`,
];
