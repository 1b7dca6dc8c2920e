-- Dynamic update (RFC 2136): messages from nodes, grants of TSIG keys, and messages that were already carried out.

-- Messages that nodes forward, and the answers. A node uses at most 1,024 slots.
create unlogged table dns_updates (
  node text not null,
  slot integer not null check (slot between 0 and 1023),
  -- The process of the node that waits for the answer.
  instance uuid not null,
  -- As received, with the TSIG record.
  octets bytea not null check (octet_length(octets) <= 65535),
  -- The address of the client.
  address inet not null,
  transport text not null check (transport in ('udp', 'tcp')),
  at timestamptz not null default clock_timestamp(),
  -- When the node stops waiting. The message is not carried out afterwards.
  deadline timestamptz not null,
  -- When an API process began to carry the message out.
  claimed_at timestamptz,
  -- The whole signed answer.
  answer bytea,
  -- The zone and its serial, if a change was made.
  apex text collate "C",
  serial bigint,
  primary key (node, slot)
) with (fillfactor = 50);
create index dns_updates_waiting on dns_updates (at) where answer is null;

-- The names and types that a TSIG key may change in a customer's domain, or in an operator zone.
create table update_grants (
  id bigint generated always as identity primary key,
  key_id bigint not null references tsig_keys on delete cascade,
  domain_id bigint references domains on delete cascade,
  zone_id bigint references zones on delete cascade,
  match text not null check (match in ('exact', 'subtree')),
  owner text collate "C" not null check (owner = lower(owner) and owner like '%.'),
  -- Codes of record types; null for all.
  types integer[] check (cardinality(types) between 1 and 64),
  -- True if the key reads and writes the origins of proxied names, and the targets of ANAME records.
  edits_origin boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(domain_id, zone_id) = 1)
);
create index update_grants_domain on update_grants (domain_id) where domain_id is not null;
create index update_grants_zone on update_grants (zone_id) where zone_id is not null;
create index update_grants_key on update_grants (key_id);

-- Nodes know which keys have grants in which zones. The trigger runs at the commit, so that transactions lock the single
-- row of transfer_config last. It raises the version once, because a transaction may delete many grants.
create function raise_transfer_config_once() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  update transfer_config set version = version + 1 where xmin <> pg_current_xact_id()::xid;
  return null;
end $$;
create constraint trigger update_grants_config after insert or delete on update_grants
  deferrable initially deferred for each row execute function raise_transfer_config_once();
create view update_grant_zones as
  select distinct g.key_id, coalesce(d.name, z.name) as zone
  from update_grants g left join domains d on d.id = g.domain_id left join zones z on z.id = g.zone_id;

-- The MAC of each message that was carried out or refused, so that a repeated message changes nothing.
create table seen_updates (
  mac bytea primary key check (octet_length(mac) <= 64),
  rcode integer not null,
  -- Why the message was refused.
  message text,
  -- The zone and its serial, if a change was made.
  apex text collate "C",
  serial bigint,
  at timestamptz not null default clock_timestamp()
);
create index seen_updates_at on seen_updates (at);

-- Grants do not pass to another owner, and are not restored with a deleted domain.
create function end_grants_of_domain() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  delete from update_grants where domain_id = new.id;
  return null;
end $$;
create trigger grants_of_former_owner after update of account_id on domains
  for each row when (old.account_id <> new.account_id) execute function end_grants_of_domain();
create trigger grants_of_deleted_domain after update of deleted_at on domains
  for each row when (old.deleted_at is null and new.deleted_at is not null) execute function end_grants_of_domain();
create function end_grants_of_zone() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  delete from update_grants where zone_id = new.id;
  return null;
end $$;
create trigger grants_of_unloaded_zone after update of kind, deleted_at on zones
  for each row when (old.kind = 'operator' and old.deleted_at is null
    and (new.kind <> 'operator' or new.deleted_at is not null))
  execute function end_grants_of_zone();
