-- Zones and the records that nodes answer with, the feed of changes, the nodes that follow it, and the fleet's
-- settings. Names are folded presentation text with the final dot.

-- One sequence for all zones. The id of a change is also the version of its zone.
create sequence change_version as bigint;

create table zones (
  id bigint generated always as identity primary key,
  name text collate "C" not null unique check (name = lower(name) and name like '%.'),
  kind text not null check (kind in ('operator', 'domain')),
  -- The change that wrote this content, with the random mark of that change. Together they identify the content, also
  -- after a restore from a backup has reused version numbers.
  version bigint not null,
  mark bigint not null,
  records integer not null check (records >= 0),
  -- A node that has an older version loads the whole zone, because rows removed before this version have been purged.
  complete_since bigint not null default 0,
  -- A deleted zone keeps its row, so that a concurrent load finds a row to lock and the version never decreases.
  deleted_at timestamptz
);
create index zones_deleted on zones (deleted_at) where deleted_at is not null;
-- Finds the zones below a name.
create index zones_below on zones (reverse(name) collate "C") where kind = 'operator' and deleted_at is null;

-- One row for each record that a zone has or had. A row is reused if the record comes back.
create table zone_records (
  zone_id bigint not null references zones on delete cascade,
  owner text collate "C" not null,
  -- Type 0 has no rdata and is never answered. It marks a name that exists but publishes nothing. At an apex it means
  -- that only SOA and NS are answered.
  type integer not null,
  ttl bigint not null check (ttl between 0 and 2147483647),
  rdata bytea not null check (octet_length(rdata) <= 65535),
  -- The version of the zone that added, changed or removed this row.
  version bigint not null,
  removed boolean not null default false,
  -- The position in the chain of NSEC or NSEC3 records; null for other types. For NSEC the canonical sort key of the
  -- owner (RFC 4034 section 6.1), which Postgres cannot compute; for NSEC3 the hash.
  place bytea,
  constraint zone_records_type_check check (type between 1 and 65535 or type = 0 and octet_length(rdata) = 0)
);
-- An index entry holds about 2,700 octets, but rdata can be longer. Rdata of more than 32 octets is represented by its
-- hash and one more octet, which no shorter rdata can equal.
create unique index zone_records_identity on zone_records
  (zone_id, owner, type, (case when octet_length(rdata) <= 32 then rdata else sha256(rdata) || '\x00'::bytea end));
create index zone_records_version on zone_records (zone_id, version);
create index zone_records_removed on zone_records (version) where removed;
create index zone_records_ring on zone_records (zone_id, type, place) where place is not null and not removed;

-- The feed that nodes follow.
create table changes (
  id bigint primary key,
  zone_id bigint not null,
  -- The name of the zone, since a change outlives a purged zone.
  zone text collate "C" not null,
  operation text not null,
  source text not null,
  actor text,
  at timestamptz not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  mark bigint not null
);
create index changes_feed on changes (xid, id);
create index changes_at on changes (at);
create index changes_zone on changes (zone_id, id);

-- One row: the state of the feed.
create table feed (
  single boolean primary key default true check (single),
  -- A part of the epoch, which identifies the history of this database (src/store/feed/change-feed.ts). A node that
  -- followed another epoch loads everything again.
  epoch uuid not null default gen_random_uuid(),
  -- Changes of transactions up to this one may have been purged.
  purged_xid xid8 not null default '0',
  -- The same for `edge_changes`.
  edge_purged_xid xid8 not null default '0',
  purged_at timestamptz not null default clock_timestamp()
);
insert into feed default values;

-- The nodes and their latest reports.
create table nodes (
  name text primary key,
  instance uuid not null,
  started_at timestamptz not null,
  seen_at timestamptz not null default clock_timestamp(),
  left_at timestamptz,
  loaded boolean not null default false,
  epoch text,
  -- The newest change that the node has applied.
  position bigint,
  -- The node serves every change whose transaction is visible in this snapshot.
  snapshot pg_snapshot,
  zones integer not null default 0,
  records bigint not null default 0,
  -- Set while the node holds back the removal of unusually many zones (docs/rules.md "Health and held removals").
  -- `confirmed_id` is the one that an operator confirmed.
  held_id uuid,
  held_since timestamptz,
  held_zones integer not null default 0,
  confirmed_id uuid,
  -- Zones whose newest content the node does not serve; null if there are more than 1,000.
  unserved bigint[] default '{}',
  -- The features that the node supports. A zone is signed only when every node supports it.
  abilities text[] not null default '{}',
  image_octets bigint,
  image_capacity bigint,
  version text check (length(version) <= 64),
  -- Counted since the start of the node's process.
  answered bigint check (answered >= 0),
  dropped bigint check (dropped >= 0),
  -- When an operator declared the node permanently removed: key rollovers no longer wait for it.
  forgotten_at timestamptz
);

-- True if this connection holds the advisory lock of the node's name (`claimNodeName`). pg_locks shows a bigint lock as
-- two halves with objsubid 1; 1852793957 is 'node'. The search path is fixed, so that a caller's own table cannot
-- replace pg_locks.
create function holds_node_name(node text) returns boolean
  language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_locks l, (select hashtextextended(node, 1852793957) as key) k
    where l.pid = pg_backend_pid() and l.locktype = 'advisory' and l.objsubid = 1 and l.granted
      and l.database = (select oid from pg_database where datname = current_database())
      and l.classid = ((k.key >> 32) & 4294967295)::oid and l.objid = (k.key & 4294967295)::oid)
$$;

-- A node can write only its own row, regardless of its role. The owner of the table is exempt.
create policy nodes_read on nodes for select using (true);
create policy nodes_insert_own on nodes for insert with check (holds_node_name(name));
create policy nodes_update_own on nodes for update
  using (holds_node_name(name)) with check (holds_node_name(name));
-- The API confirms held removals. Its grants limit it to that column. The role need not exist yet.
create policy nodes_confirm on nodes for update using (current_user = 'zonefleet_api')
  with check (current_user = 'zonefleet_api');
alter table nodes enable row level security;

-- The settings that answers depend on, which every process reads, and a few markers such as `STARTED`.
create table settings (
  name text primary key,
  value jsonb not null
);
