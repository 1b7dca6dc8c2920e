-- The audit log.

-- The log refers to accounts, domains and changes by id only, without foreign keys, because it outlives them.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  action text collate "C" not null,
  actor_kind text collate "C" not null
    constraint audit_log_actor_kind_check check (actor_kind in ('session', 'key', 'token', 'tsig', 'cli', 'system')),
  actor_account_id bigint,
  -- The API key, the reseller's token if `actor_kind` is 'token', or the TSIG key if it is 'tsig'.
  actor_key_id bigint,
  actor_address text,
  actor_name text,
  -- The account that the entry is about.
  account_id bigint,
  domain_id bigint,
  change_id bigint,
  target_id bigint,
  target_name text,
  before jsonb,
  after jsonb,
  -- The minute of a failed sign-in; null for other actions.
  failed_minute timestamptz
);
create index audit_log_at on audit_log (at);
create index audit_log_action on audit_log (action, id);
create index audit_log_domain on audit_log (domain_id, id) where domain_id is not null;
create index audit_log_account on audit_log (account_id, id) where account_id is not null;
create index audit_log_actor on audit_log (actor_account_id, id) where actor_account_id is not null;
create index audit_log_system on audit_log (actor_kind, id) where actor_kind in ('cli', 'system');
-- At most one row per minute for the failed sign-ins of an account.
create unique index audit_log_failures on audit_log (failed_minute, account_id) where failed_minute is not null;
-- Finds the newest hand-over of a domain: entries from before it are shown without addresses.
create index audit_log_moves on audit_log (domain_id, id) where action = 'domain.move';
