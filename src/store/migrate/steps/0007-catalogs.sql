-- Catalog zones.

create table catalogs (
  id bigint generated always as identity primary key,
  name text collate "C" not null unique check (name = lower(name) and name like '%.'),
  -- `producer`: an operator zone that workers write. `consumer`: a secondary, whose members become secondaries.
  role text not null check (role in ('producer', 'consumer')),
  max_members integer not null default 100000 check (max_members between 1 and 1000000),
  -- Producer: the zones that become members, all or those of an account; null if they are added one by one.
  selects text check (selects in ('all', 'account')),
  account_id bigint references accounts,
  -- Producer: true if the group of a member is the name of its transfer policy.
  group_by_policy boolean not null default false,
  -- Producer: the changes that are published, as a position in the feed; null before the first comparison with all zones.
  position text,
  -- Consumer: the version of the zone that was compared last.
  version bigint,
  -- Consumer: the version whose removals wait for a confirmation, and the one that was confirmed.
  held_version bigint,
  confirmed_version bigint,
  -- Consumer: local policies of groups, from group to policy.
  policies jsonb not null default '{}',
  -- Consumer: why the newest version is not applied; empty if it is.
  findings jsonb not null default '[]',
  -- Consumer: the worker that has increased `lease` last compares the catalog until this time.
  lease bigint not null default 0,
  leased_until timestamptz,
  -- Consumer: the catalog is not compared before this time.
  next_at timestamptz not null default clock_timestamp(),
  -- Consumer: when skipped members are tried again; null if there are none.
  retry_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  check (role = 'producer' or selects is null and account_id is null and not group_by_policy),
  check ((selects = 'account') = (account_id is not null))
);

create table catalog_members (
  catalog_id bigint not null references catalogs on delete cascade,
  name text collate "C" not null check (name = lower(name) and name like '%.'),
  -- Producer: the zone; null once it is deleted.
  zone_id bigint,
  -- The unique label of the member (RFC 9432 §4.1).
  label text not null,
  group_name text,
  -- Producer: when the member moved to another catalog. It stays listed with `coo` for some time (§4.3.1).
  left_at timestamptz,
  moved_to bigint references catalogs on delete set null,
  -- Consumer: the catalog that may take the member over (§4.3.1).
  coo text,
  -- Consumer: why the member is not copied; null if it is.
  skipped text,
  primary key (catalog_id, name)
);
-- While a consumed catalog is compared, labels may be exchanged between members.
create unique index catalog_members_label on catalog_members (catalog_id, label) where zone_id is not null;
create index catalog_members_skipped on catalog_members (catalog_id, name) where skipped is not null;
create index catalog_members_name on catalog_members (name);
create index catalog_members_zone on catalog_members (zone_id) where zone_id is not null;
create index catalog_members_left on catalog_members (left_at) where left_at is not null;

-- Finds the copies below a name.
create index secondaries_below on secondaries (reverse(zone_name) collate "C") where zone_name is not null;
