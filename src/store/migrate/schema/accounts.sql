-- Plans, accounts, and how people and programs sign in.

create table plans (
  id bigint generated always as identity primary key,
  slug text not null unique,
  name text not null,
  -- Limits; null is unlimited.
  max_domains integer check (max_domains >= 0),
  -- Maximum number of pending or unverified domains of an account.
  max_claims integer check (max_claims >= 0),
  max_records integer check (max_records >= 0),
  max_traffic_gb integer check (max_traffic_gb >= 0),
  max_rules_per_set integer check (max_rules_per_set >= 0),
  max_cache_cap_mb integer not null check (max_cache_cap_mb >= 0),
  logs_enabled boolean not null,
  monitoring_enabled boolean not null,
  rules_enabled boolean not null,
  cache_purge_enabled boolean not null,
  custom_ssl_enabled boolean not null,
  ws_enabled boolean not null,
  host_header_edit_enabled boolean not null,
  dedicated_support_enabled boolean not null,
  quota_reset_days integer not null check (quota_reset_days >= 0)
);
insert into plans (slug, name, max_domains, max_claims, max_records, max_traffic_gb, max_rules_per_set,
  max_cache_cap_mb, logs_enabled, monitoring_enabled, rules_enabled, cache_purge_enabled, custom_ssl_enabled,
  ws_enabled, host_header_edit_enabled, dedicated_support_enabled, quota_reset_days)
values
  ('free', 'Free', 100, 100, 200, 100, 5, 512, false, false, true, true, false, true, false, false, 30),
  ('pro', 'Pro', 10000, 10000, null, null, null, 4096, true, true, true, true, true, true, true, true, 30);

-- A term never changes, because subscriptions were bought by it. A retired term is no longer sold; existing
-- subscriptions keep it.
create table plan_terms (
  id bigint generated always as identity primary key,
  plan_id bigint not null references plans,
  days integer not null check (days between 1 and 3660),
  price_rials bigint not null check (price_rials between 0 and 9000000000000000),
  created_at timestamptz not null default clock_timestamp(),
  retired_at timestamptz
);
create index plan_terms_plan on plan_terms (plan_id, id);
insert into plan_terms (plan_id, days, price_rials) select id, 30, 0 from plans where slug = 'free';
-- Id 2 stays unused: it was shown as the term of "pro" before terms were stored.
select setval(pg_get_serial_sequence('plan_terms', 'id'), 2);

create table accounts (
  id bigint generated always as identity primary key,
  email text not null check (length(email) between 1 and 254),
  -- The email in the form in which it is compared: NFC, lower case. Computed in JavaScript, because Postgres folds by
  -- the locale of the database, which may know ASCII only.
  email_key text collate "C",
  email_confirmed_at timestamptz default clock_timestamp(),
  name text,
  password_hash text,
  password_set_at timestamptz,
  is_admin boolean not null default false,
  is_reseller boolean not null default false,
  -- True unless an operator created the account.
  self_registered boolean not null default false,
  active boolean not null default true,
  -- The reseller that deactivated the account; null if an operator did. A reseller cannot activate an account that an
  -- operator deactivated.
  deactivated_by bigint,
  -- The reseller that manages the account.
  provider_id bigint references accounts,
  -- The plan of the account's new domains.
  plan_id bigint references plans,
  -- When the account used its trial.
  trial_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create unique index accounts_email on accounts (lower(email));
create unique index accounts_email_key on accounts (email_key);
create index accounts_provider on accounts (provider_id) where provider_id is not null;
-- Lists for operators. The partial indexes are for few accounts among many.
create index accounts_by_email on accounts ((lower(email) collate "C"), id);
create index accounts_by_age on accounts (created_at, id);
create index accounts_admins on accounts (created_at, id) where is_admin;
create index accounts_resellers on accounts (created_at, id) where is_reseller;
create index accounts_inactive on accounts (created_at, id) where not active;

create table api_keys (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  name text not null,
  -- The first characters of the key, so that people can tell keys apart.
  prefix text not null,
  -- The SHA-256 of the whole key.
  hash bytea not null unique check (octet_length(hash) = 32),
  read_only boolean not null default false,
  -- Restrictions of the key; null for none.
  domains text[],
  names text[],
  types text[],
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create index api_keys_account on api_keys (account_id, id);

create table sessions (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  -- The SHA-256 of the session token.
  hash bytea not null unique,
  carrier text not null check (carrier in ('cookie', 'bearer')),
  created_at timestamptz not null default clock_timestamp(),
  used_at timestamptz not null default clock_timestamp(),
  -- When the password was last entered in this session: some calls require a recent one.
  password_at timestamptz,
  address text,
  user_agent text
) with (fillfactor = 80);
create index sessions_account on sessions (account_id, id);
create index sessions_used on sessions (used_at);

-- Browsers that have signed in to an account. Failed attempts of others do not block them.
create table account_devices (
  hash bytea primary key,
  account_id bigint not null references accounts,
  used_at timestamptz not null default clock_timestamp()
);
create index account_devices_account on account_devices (account_id, used_at);
create index account_devices_used on account_devices (used_at);

-- Links in mails that work once. Using a link deletes its row.
create table account_links (
  hash bytea primary key,
  kind text not null check (kind in ('sign-in', 'reset', 'register', 'email')),
  account_id bigint references accounts,
  email text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  check ((account_id is null) = (kind = 'register')),
  check ((email is null) = (kind in ('sign-in', 'reset')))
);
create index account_links_account on account_links (account_id);
create index account_links_expires on account_links (expires_at);

create table account_totp (
  account_id bigint primary key references accounts,
  box_id bigint not null references key_boxes,
  sealed bytea not null,
  confirmed_at timestamptz,
  -- The time step of the last code that was accepted: each code works once.
  last_step bigint not null default 0,
  created_at timestamptz not null default clock_timestamp()
);

create table recovery_codes (
  account_id bigint not null references accounts,
  hash bytea not null,
  primary key (account_id, hash)
);

-- Identities of people at an identity provider (OpenID Connect) that may sign in to an account.
create table account_identities (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  issuer text collate "C" not null,
  -- The provider's own id of the person. It stays the same if the email address changes.
  subject text collate "C" not null,
  -- The email address that the provider reported last. It is only shown.
  email text,
  created_at timestamptz not null default clock_timestamp(),
  used_at timestamptz,
  unique (issuer, subject),
  unique (account_id, issuer)
);

-- Identities that the provider has confirmed, of people who still have to enter the code of two-step sign-in. The hash is
-- the SHA-256 of the browser's cookie.
create table identity_proofs (
  account_id bigint primary key references accounts,
  hash bytea not null unique check (octet_length(hash) = 32),
  identity json not null,
  expires_at timestamptz not null
);

-- Failed attempts to sign in, by what they are counted for (src/api/people/attempts.ts). Unlogged: counting restarts
-- after a crash of Postgres.
create unlogged table sign_in_failures (
  key text collate "C" primary key,
  count integer not null,
  window_ends_at timestamptz not null,
  blocks integer not null,
  blocked_until timestamptz,
  kept_until timestamptz not null
) with (fillfactor = 50);
create index sign_in_failures_kept on sign_in_failures (kept_until);

-- The calls of the last minute of each caller, counted for all API processes together. Unlogged, so that counting never
-- waits for the disk; after a crash of Postgres it restarts. Every call rewrites its row, and the fill factor leaves
-- room for the next version on the same page.
create unlogged table call_windows (
  subject text primary key,
  calls bigint[] not null,
  admitted boolean not null,
  ends_at timestamptz not null
) with (fillfactor = 50);
alter table call_windows alter column calls set storage main;

-- Answers to requests with an Idempotency-Key. The row is inserted in the transaction that does the work, and the
-- response is added at the end of it.
create table idempotency_keys (
  account_id bigint not null references accounts,
  key text not null check (octet_length(key) between 1 and 764),
  method text not null,
  path text not null,
  body_hash bytea not null,
  response json,
  -- SHA-256 of the body's JSON if the body is too large to be stored. `response` then has the status, the headers and,
  -- for some routes, data to rebuild the body.
  digest bytea check (octet_length(digest) = 32),
  change_id bigint,
  -- The size of `response`.
  octets integer not null default 0 check (octets >= 0),
  created_at timestamptz not null default clock_timestamp(),
  -- True if money moved: the response is kept whole and forever, and counts towards no limit.
  for_ever boolean not null default false,
  primary key (account_id, key)
);
create index idempotency_keys_created on idempotency_keys (created_at) where not for_ever;
-- Finds the oldest stored responses of an account, which are reduced first.
create index idempotency_keys_kept on idempotency_keys (account_id, created_at) where octets > 0;

-- The size of the answers kept for each account. Written last in the transaction, so that the row is locked briefly.
create table idempotency_octets (
  account_id bigint primary key references accounts,
  octets bigint not null
);

-- Machine tokens of resellers.
create table reseller_tokens (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  name text not null,
  -- The part of the token that is shown.
  key_id text collate "C" not null unique,
  -- The SHA-256 of the whole token.
  hash bytea not null unique check (octet_length(hash) = 32),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create index reseller_tokens_of on reseller_tokens (account_id, id);
