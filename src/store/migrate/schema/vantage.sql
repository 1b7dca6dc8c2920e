-- Vantage points, and the jobs that workers give them.

create table vantages (
  name text collate "C" primary key,
  -- The operator's label: vantage points of one network count as one.
  network text not null,
  public_key text not null unique,
  -- The address that the operator gave, and the one that it connects from.
  given_address text,
  seen_address text,
  created_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz,
  answers bigint not null default 0,
  dropped bigint not null default 0
) with (fillfactor = 50);

-- Unlogged: after a crash of Postgres the jobs are lost, and so are the checks that wait for them.
create unlogged table vantage_jobs (
  id uuid primary key,
  -- Equal for all jobs of one check.
  ask uuid not null,
  vantage text collate "C" not null references vantages on delete cascade,
  name text not null,
  fresh boolean not null,
  thorough boolean not null,
  deadline timestamptz not null,
  taken_at timestamptz,
  answered_at timestamptz,
  evidence jsonb
);
create index vantage_jobs_ask on vantage_jobs (ask);
create index vantage_jobs_new on vantage_jobs (vantage, deadline) where taken_at is null;
create index vantage_jobs_deadline on vantage_jobs (deadline);

-- The nonces of signed requests, for as long as a request with their time would be accepted.
create unlogged table vantage_nonces (
  vantage text collate "C" not null,
  nonce text collate "C" not null,
  at timestamptz not null,
  primary key (vantage, nonce)
);
create index vantage_nonces_at on vantage_nonces (at);
