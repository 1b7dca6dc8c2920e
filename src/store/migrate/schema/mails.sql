-- Mails that wait to be sent.

-- A mail has a kind and a recipient; the worker that sends it writes the text and creates its link. A mail that has
-- been sent is deleted.
create table mails (
  id bigint generated always as identity primary key,
  kind text not null,
  email text not null,
  account_id bigint references accounts,
  -- For mails about a domain, with the sentence that the text contains.
  domain_id bigint references domains on delete cascade,
  message text,
  created_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0
);
create index mails_due on mails (due_at);
create index mails_domain on mails (domain_id) where domain_id is not null;
