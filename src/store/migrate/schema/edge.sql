-- Edge nodes, the feed that they follow, and the addresses that proxied names publish by region.

create table edges (
  id bigint generated always as identity primary key,
  name text not null unique check (name ~ '^[a-z0-9]([a-z0-9.-]{0,62})$'),
  region text not null check (region ~ '^[a-z0-9]([a-z0-9-]{0,31})$'),
  -- The addresses that proxied names publish.
  v4 text[] not null default '{}',
  v6 text[] not null default '{}',
  -- The SHA-256 of the whole token, and its first characters, so that people can tell tokens apart.
  token_hash bytea not null unique,
  token_prefix text not null,
  token_made_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  drained_at timestamptz,
  revoked_at timestamptz,
  -- The newest health report. Only this keeps the edge published.
  seen_at timestamptz,
  -- The newest call of any kind, to half a minute.
  called_at timestamptz,
  seen_address text,
  software text,
  load double precision,
  -- The edge's reported position in the feed.
  config_cursor text
);

-- Rules that an edge cannot obey, as it last reported. An edge may report any id, so readers join the rules that it is
-- sent.
create table edge_unsupported (
  rule_id bigint not null,
  edge_id bigint not null references edges on delete cascade,
  why text not null,
  primary key (rule_id, edge_id)
);
create index edge_unsupported_of on edge_unsupported (edge_id);

-- The region of each country (ISO 3166-1 alpha-2). Other countries are answered with the default addresses.
create table edge_countries (
  country text primary key check (country ~ '^[A-Z]{2}$'),
  region text not null
);

-- The feed: a row for each domain name that has had a proxied record, with its newest version and the transaction that
-- wrote it. A row is replaced, never added twice, so an edge that was disconnected finds every change. Triggers write
-- it, because many paths change a domain and an edge must not miss any.
create sequence edge_version;
create table edge_changes (
  name text collate "C" primary key,
  version bigint not null default nextval('edge_version'),
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now()
);
create index edge_changes_xid on edge_changes (xid);

-- A transaction that changes a name many times writes its row once.
create function note_edge_change(changed text) returns void language sql as $$
  update edge_changes set version = nextval('edge_version'), xid = pg_current_xact_id(), at = now()
  where name = changed and xid <> pg_current_xact_id()
$$;

create function note_edge_domain() returns trigger language plpgsql as $$
begin
  perform note_edge_change(new.name);
  return null;
end $$;
-- The columns that an edge is sent, or that decide whether it is sent anything. A domain whose row is deleted is no
-- longer served.
create trigger domains_edge after update on domains for each row
  when ((old.status, old.served, old.dns_mode, old.suspended_at, old.debt_suspended_at, old.deleted_at, old.plan_id,
      old.plan_overrides, old.edge_regions, old.cache_l2_max_gb, old.cache_l2_ttl_days, old.cache_cap_mb,
      old.developer_mode_until, old.sec_no_sniff, old.sec_referrer_policy, old.sec_strip_headers,
      old.markdown_for_agents)
    is distinct from
    (new.status, new.served, new.dns_mode, new.suspended_at, new.debt_suspended_at, new.deleted_at, new.plan_id,
      new.plan_overrides, new.edge_regions, new.cache_l2_max_gb, new.cache_l2_ttl_days, new.cache_cap_mb,
      new.developer_mode_until, new.sec_no_sniff, new.sec_referrer_policy, new.sec_strip_headers,
      new.markdown_for_agents))
  execute function note_edge_domain();

-- Records are recorded per statement, since a batch has thousands of rows. A domain that is deleted with its records
-- was no longer served.
create function note_edge_records(ids bigint[]) returns void language sql as $$
  insert into edge_changes (name) select distinct d.name from domains d where d.id = any(ids) order by d.name
  on conflict (name) do update set version = nextval('edge_version'), xid = pg_current_xact_id(), at = now()
    where edge_changes.xid <> pg_current_xact_id()
$$;

create function note_edge_records_insert() returns trigger language plpgsql as $$
declare ids bigint[];
begin
  ids := array(select distinct domain_id from new_records where proxied);
  if ids <> '{}' then perform note_edge_records(ids); end if;
  return null;
end $$;
create trigger records_edge_insert after insert on records referencing new table as new_records
  for each statement execute function note_edge_records_insert();

create function note_edge_records_delete() returns trigger language plpgsql as $$
declare ids bigint[];
begin
  ids := array(select distinct domain_id from old_records where proxied);
  if ids <> '{}' then perform note_edge_records(ids); end if;
  return null;
end $$;
create trigger records_edge_delete after delete on records referencing old table as old_records
  for each statement execute function note_edge_records_delete();

create function note_edge_records_update() returns trigger language plpgsql as $$
declare ids bigint[];
begin
  ids := array(select domain_id from old_records where proxied union select domain_id from new_records where proxied);
  if ids <> '{}' then perform note_edge_records(ids); end if;
  return null;
end $$;
create trigger records_edge_update after update on records
  referencing old table as old_records new table as new_records
  for each statement execute function note_edge_records_update();

create function note_edge_rules() returns trigger language plpgsql as $$
begin
  perform note_edge_change(d.name) from domains d where d.id in (select domain_id from written);
  return null;
end $$;
create trigger rules_edge_insert after insert on rules
  referencing new table as written for each statement execute function note_edge_rules();
create trigger rules_edge_update after update on rules
  referencing new table as written for each statement execute function note_edge_rules();
create trigger rules_edge_delete after delete on rules
  referencing old table as written for each statement execute function note_edge_rules();

-- Each of a plan's domains is sent whether the plan includes WebSocket.
create function note_edge_plan() returns trigger language plpgsql as $$
begin
  update edge_changes set version = nextval('edge_version'), xid = pg_current_xact_id(), at = now()
  where xid <> pg_current_xact_id() and name in (select name from domains where plan_id = new.id);
  return null;
end $$;
create trigger plans_edge after update on plans for each row
  when (old.ws_enabled is distinct from new.ws_enabled) execute function note_edge_plan();

-- The records that each region publishes for proxied names. One row for the fleet, which workers write and nodes follow.
create table edge_sets (
  single boolean primary key default true check (single),
  sets jsonb not null,
  members jsonb not null,
  held jsonb,
  decided_at timestamptz not null default now()
);
insert into edge_sets (sets, members) values ('{"version": 0, "regions": [], "countries": {}}', '{}');

-- Progress of the signatures over these sets in each signed zone with proxied names. Each index finds what is due
-- for one reason.
create table edge_signings (
  zone_id bigint primary key references zones on delete cascade,
  -- The version of the zone that was examined.
  zone_version bigint not null default 0,
  -- The sets that it was signed for.
  sets text collate "C" not null default '',
  -- When the first signature expires.
  expires_at timestamptz,
  -- The number of the newest change of a proxied name that has not been examined.
  changed bigint,
  leased_until timestamptz
);
create index edge_signings_changed on edge_signings (changed) where changed is not null;
create index edge_signings_sets on edge_signings (sets);
create index edge_signings_expires on edge_signings (expires_at);
