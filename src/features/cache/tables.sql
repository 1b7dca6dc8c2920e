-- Purges of cached entries.

create table cache_purges (
  id bigint generated always as identity primary key,
  domain_id bigint not null references domains on delete cascade,
  -- A `PurgeTarget` of rules.ts, as JSON.
  target jsonb not null,
  at timestamptz not null default clock_timestamp(),
  -- A later purge of the whole domain, if edges had not completed this one before.
  replaced_by bigint
);
create index cache_purges_of on cache_purges (domain_id, id);
create index cache_purges_at on cache_purges (at);

-- A row for each edge that may have cached something. An edge is sent the rows that it has not completed, so it misses
-- none, in whichever order transactions commit.
create table cache_purge_edges (
  purge_id bigint not null references cache_purges on delete cascade,
  edge_id bigint not null references edges on delete cascade,
  done_at timestamptz,
  -- Why the last attempt of the edge failed.
  error text,
  primary key (purge_id, edge_id)
);
create index cache_purge_edges_open on cache_purge_edges (edge_id, (error is not null), purge_id)
  where done_at is null;
