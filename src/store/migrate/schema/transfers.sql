-- Zone transfers: keys and peers, which peers get which zones, the history that incremental transfers are made from, and
-- the zones that are copied from a primary. Names are folded presentation text with the final dot.

create table tsig_keys (
  id bigint generated always as identity primary key,
  -- Null for a key of the operator.
  account_id bigint references accounts,
  name text collate "C" not null check (name = lower(name) and name like '%.'),
  algorithm text not null check (algorithm in ('hmac-sha256', 'hmac-sha384', 'hmac-sha512')),
  -- `serve`: peers sign with it. `fetch`: this fleet signs with it, and the primary chose name and secret.
  use text not null check (use in ('serve', 'fetch')),
  -- The secret of TSIG_SECRETS that seals the key.
  wrap text not null,
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create unique index tsig_keys_name on tsig_keys (name) where use = 'serve';
-- The keys of one account, or of the operator, differ in name.
create unique index tsig_keys_of_account on tsig_keys (coalesce(account_id, 0), name) where revoked_at is null;
create index tsig_keys_account on tsig_keys (account_id);

-- A server of another operator.
create table peers (
  id bigint generated always as identity primary key,
  -- A peer of the operator has a name. A peer of a domain belongs to it alone.
  name text unique,
  domain_id bigint references domains on delete cascade,
  addresses inet[] not null default '{}' check (cardinality(addresses) <= 8),
  port integer not null default 53 check (port between 1 and 65535),
  -- Sources from which the peer may transfer; empty for any source.
  networks cidr[] not null default '{}' check (cardinality(networks) <= 16),
  key_id bigint references tsig_keys,
  -- `opportunistic`: TLS is tried first, and nothing is verified. `strict`: only TLS, with a verified server.
  tls text not null default 'off' check (tls in ('off', 'opportunistic', 'strict')),
  -- NOTIFY and messages without TLS are sent to `port`.
  tls_port integer not null default 853 check (tls_port between 1 and 65535),
  -- The name in the server's certificate; null if only pins are verified. Without a final dot.
  tls_name text,
  -- SHA-256 of public keys (SubjectPublicKeyInfo), of which the server must have one. A strict peer without name and pins
  -- may transfer zones from this fleet, but is not a primary.
  tls_pins bytea[] not null default '{}' check (cardinality(tls_pins) <= 4),
  -- For a secondary of its domain: whether it may transfer the zone, and whether it receives NOTIFY.
  transfers boolean not null default false,
  notified boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(name, domain_id) = 1),
  check (domain_id is not null or not transfers and not notified),
  check (cardinality(addresses) > 0 or cardinality(networks) > 0 or key_id is not null)
);
create index peers_domain on peers (domain_id) where domain_id is not null;
create index peers_key on peers (key_id) where key_id is not null;

-- A list of peers that many zones share.
create table transfer_policies (
  id bigint generated always as identity primary key,
  name text not null unique,
  -- True for the policy of zones that have none of their own.
  is_default boolean not null default false
);
create unique index transfer_policies_default on transfer_policies (is_default) where is_default;

create table policy_peers (
  policy_id bigint not null references transfer_policies on delete cascade,
  peer_id bigint not null references peers,
  transfers boolean not null,
  notified boolean not null,
  primary key (policy_id, peer_id)
);
create index policy_peers_peer on policy_peers (peer_id);

-- Null for the default policy.
alter table zones add column policy_id bigint references transfer_policies;
create index zones_policy on zones (policy_id) where policy_id is not null;

-- The versions of zones that keep history.
create table zone_history (
  zone_id bigint not null references zones on delete cascade,
  version bigint not null,
  -- The version that this one replaced: a version without a row, or one that no row replaces, is a gap. Null if the
  -- change was too large to be kept.
  version_before bigint,
  -- Null, both, if the SOA did not change.
  serial_before bigint,
  serial_after bigint,
  -- The number of rows in zone_differences.
  rows integer not null,
  at timestamptz not null default clock_timestamp(),
  primary key (zone_id, version)
);
create index zone_history_serial on zone_history (zone_id, serial_before) where serial_before is not null;
create index zone_history_at on zone_history (at);

-- The records that each version removed and added. A change of a TTL is a removal and an addition.
create table zone_differences (
  zone_id bigint not null references zones on delete cascade,
  version bigint not null,
  removed boolean not null,
  owner text collate "C" not null,
  type integer not null,
  ttl bigint not null,
  rdata bytea not null
);
create index zone_differences_version on zone_differences (zone_id, version);

-- Zones of which this fleet is a secondary: an operator zone, or a customer's domain.
create table secondaries (
  id bigint generated always as identity primary key,
  zone_name text collate "C" unique check (zone_name = lower(zone_name) and zone_name like '%.'),
  domain_id bigint unique references domains on delete cascade,
  -- The primaries, in the order in which they are asked.
  peers bigint[] not null check (cardinality(peers) between 1 and 4),
  -- Null for SECONDARY_MAX_RECORDS.
  max_records integer check (max_records > 0),
  -- For optimistic locking of refreshes.
  seq bigint not null default 0,
  -- The serial of the copy; null before the first transfer.
  serial bigint,
  -- How the copy was last transferred.
  form text check (form in ('axfr', 'ixfr')),
  transferred_at timestamptz,
  refreshed_at timestamptz,
  due_at timestamptz not null default clock_timestamp(),
  leased_until timestamptz,
  expires_at timestamptz,
  -- When the copy expired; null while it is answered.
  expired_at timestamptz,
  -- True if the next refresh takes any serial of the primary.
  is_forced boolean not null default false,
  failures integer not null default 0,
  -- A finding of the last refresh; null if it succeeded.
  last_error text,
  last_message text,
  created_at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(zone_name, domain_id) = 1)
);
create index secondaries_due on secondaries (due_at);
-- Finds the copies below a name.
create index secondaries_below on secondaries (reverse(zone_name) collate "C") where zone_name is not null;
create index secondaries_leased on secondaries (leased_until) where leased_until is not null;
create index secondaries_expiry on secondaries (expires_at) where expired_at is null;

-- NOTIFY messages of primaries. Slots bound the table: a slot is a hash of the name.
create unlogged table received_notifies (
  slot integer primary key check (slot between 0 and 4095),
  zone text collate "C" not null,
  serial bigint,
  received_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- What each node has sent to each peer, and what the peer has taken.
create table transfer_reports (
  zone_id bigint not null references zones on delete cascade,
  peer_id bigint not null references peers on delete cascade,
  node text not null,
  notified_serial bigint,
  acked_at timestamptz,
  served_serial bigint,
  served_at timestamptz,
  form text check (form in ('axfr', 'ixfr', 'soa')),
  error text,
  reported_at timestamptz not null default clock_timestamp(),
  primary key (zone_id, peer_id, node)
);

-- Orders of the command line to send NOTIFY again. Nodes read those of the last minute.
create table notify_orders (
  id bigint generated always as identity primary key,
  zone_id bigint not null references zones on delete cascade,
  at timestamptz not null default clock_timestamp()
);
create index notify_orders_at on notify_orders (at);

-- One row. Nodes load their configuration again when the version differs.
create table transfer_config (
  single boolean primary key default true check (single),
  version bigint not null default 1
);
insert into transfer_config default values;

create function raise_transfer_config() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  update transfer_config set version = version + 1;
  return null;
end $$;
create trigger tsig_keys_config after insert or delete or update of name, algorithm, use, wrap, sealed, expires_at, revoked_at
  on tsig_keys for each statement execute function raise_transfer_config();
create trigger peers_config after insert or update or delete on peers
  for each statement execute function raise_transfer_config();
create trigger transfer_policies_config after insert or update or delete on transfer_policies
  for each statement execute function raise_transfer_config();
create trigger policy_peers_config after insert or update or delete on policy_peers
  for each statement execute function raise_transfer_config();
create trigger secondaries_config after insert or delete or update of peers on secondaries
  for each statement execute function raise_transfer_config();
create trigger zones_policy_config after update of policy_id on zones
  for each row when (old.policy_id is distinct from new.policy_id) execute function raise_transfer_config();

-- The secondaries and primaries of a domain do not pass to another owner.
create function end_transfers_of_domain() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  delete from secondaries where domain_id = new.id;
  delete from peers where domain_id = new.id;
  return null;
end $$;
create trigger transfers_of_former_owner after update of account_id on domains
  for each row when (old.account_id <> new.account_id) execute function end_transfers_of_domain();
-- After its copy ends, a domain's next change publishes all of its own records.
create function end_copy_of_domain() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  update domains set answers_generation = 0 where id = old.domain_id;
  return null;
end $$;
create trigger secondaries_end_copy after delete on secondaries for each row
  when (old.domain_id is not null) execute function end_copy_of_domain();
-- A domain that is no longer answered whole has lost its copy. The next transfer is a whole one.
create function forget_copy_of_domain() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  update secondaries set serial = null, form = null, transferred_at = null, expires_at = null, expired_at = null,
    seq = seq + 1, due_at = clock_timestamp() where domain_id = new.id;
  return null;
end $$;
create trigger domains_forget_copy after update of served on domains for each row
  when (old.served = 'full' and new.served <> 'full') execute function forget_copy_of_domain();

-- Nodes know the zones of domains with peers.
create function raise_transfer_config_of_domain() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  if exists (select from peers where domain_id = new.id) then
    update transfer_config set version = version + 1;
  end if;
  return null;
end $$;
create trigger domains_transfer_config after update of zone_id on domains for each row
  when (old.zone_id is distinct from new.zone_id) execute function raise_transfer_config_of_domain();

-- What nodes read of domains.
create view zone_peers as
  select d.zone_id, d.account_id, p.id as peer_id, p.transfers, p.notified from peers p join domains d on d.id = p.domain_id
  where d.zone_id is not null and (p.transfers or p.notified);
create view secondary_zones as
  select coalesce(s.zone_name, d.name) as zone, s.peers from secondaries s left join domains d on d.id = s.domain_id
  where s.domain_id is null or d.zone_id is not null;

-- Gathers statistics of zone_records if they say that the table has fewer records than one zone that has just been written.
-- They may have been gathered in the middle of writing it. With them, finding one of its records would read all of them.
-- It runs with the rights of the owner of the tables, because only the owner may gather statistics.
create function analyze_zone_records(records bigint) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if (select reltuples < records from pg_class where oid = 'zone_records'::regclass) then
    analyze (skip_locked) zone_records;
  end if;
end $$;
