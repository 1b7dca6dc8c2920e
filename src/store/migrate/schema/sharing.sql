-- Invites to share a domain. Memberships are a core table.

create table invites (
  id bigint generated always as identity primary key,
  domain_id bigint not null references domains on delete cascade,
  email text not null,
  -- Like `accounts.email_key`.
  email_key text collate "C" not null,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  -- Null for an invite by the operator.
  invited_by bigint references accounts,
  invited_by_email text,
  -- An open invite ends when it expires, without a change of its status.
  status text not null default 'open' check (status in ('open', 'accepted', 'revoked')),
  created_at timestamptz not null default clock_timestamp(),
  -- When it was created, or last sent again.
  sent_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  accepted_by bigint references accounts,
  check ((status = 'open') = (ended_at is null)),
  check ((status = 'accepted') = (accepted_by is not null))
);
create unique index invites_open on invites (domain_id, email_key) where status = 'open';
create index invites_domain on invites (domain_id, id);
create index invites_email on invites (email_key) where status = 'open';
create index invites_inviter on invites (invited_by) where status = 'open';
create index invites_expires on invites (expires_at);

-- The links of an invite. The response contains one and the mail another: only the mailed one proves that somebody
-- reads the address.
create table invite_tokens (
  hash bytea primary key,
  invite_id bigint not null references invites on delete cascade,
  proves_email boolean not null
);
create index invite_tokens_invite on invite_tokens (invite_id);

-- Number of recently sent invites, by domain, account or address.
create table invite_windows (
  subject text collate "C" primary key,
  count integer not null,
  ends_at timestamptz not null
) with (fillfactor = 50);
create index invite_windows_ends on invite_windows (ends_at);

alter table mails add column invite_id bigint references invites on delete cascade;
create index mails_invite on mails (invite_id) where invite_id is not null;
