-- The cache registry: entries that edges have cached. It may have its own database (CACHE_REGISTRY_URL), to which
-- only this file is applied, so there are no foreign keys. Texts are compared by octets, so that patterns and sort
-- orders are cheaper and the same on every server.

create table cached_entries (
  id bigint generated always as identity,
  domain_id bigint not null,
  node text collate "C" not null,
  host text collate "C" not null,
  path text collate "C" not null,
  query text collate "C" not null,
  variant text collate "C" not null,
  method text collate "C" not null,
  hostname text collate "C" not null,
  store_path text collate "C" not null,
  key_hash text collate "C" not null,
  cache_key text collate "C" not null,
  l2_key text collate "C" not null,
  size bigint not null,
  cached_at timestamptz not null,
  expires_at timestamptz not null,
  -- The node is first: when one restarts, all its entries are deleted.
  primary key (node, domain_id, key_hash)
);
create index cached_entries_at on cached_entries (domain_id, cached_at, id);
create index cached_entries_size on cached_entries (domain_id, size, id);
create index cached_entries_until on cached_entries (domain_id, expires_at, id);
-- Used by purges. A path and a store path may be longer than an index entry.
create index cached_entries_path on cached_entries (domain_id, host, left(path, 128));
create index cached_entries_stored on cached_entries (domain_id, hostname, md5(store_path));

create table cached_domains (
  domain_id bigint primary key,
  entries integer not null default 0,
  -- Number of entries dropped for lack of space, oldest first.
  dropped bigint not null default 0
);

create table cached_nodes (
  node text collate "C" primary key,
  restarted_at timestamptz not null
);
