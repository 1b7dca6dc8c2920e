-- Catalog zones (RFC 9432): zones whose records list other zones.

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
  -- Producer: when all zones were compared with the members, and when the zone was changed last.
  compared_at timestamptz,
  published_at timestamptz,
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
  -- Producer: the zone.
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
create index catalog_members_skipped on catalog_members (catalog_id, name) where skipped is not null;
create index catalog_members_zone on catalog_members (zone_id) where zone_id is not null;

-- The consumed catalog that lists the zone; null if the zone was added by hand.
alter table secondaries add column catalog_id bigint references catalogs on delete set null;
create index secondaries_joining on secondaries (catalog_id)
  where catalog_id is not null and serial is null and failures = 0;

-- Producer: names that were added by hand. A zone of this name becomes a member when nodes serve it whole.
create table catalog_names (
  name text collate "C" primary key check (name = lower(name) and name like '%.'),
  catalog_id bigint not null references catalogs on delete cascade
);
create index catalog_names_catalog on catalog_names (catalog_id);

-- Producer: zones that may have become or ceased to be members. Workers delete the rows after they have compared the zones.
create table catalog_changes (
  id bigint generated always as identity primary key,
  zone_id bigint not null,
  -- `deleted`: a zone that has its name afterwards is another one. `moved`: the former catalog no longer lists the zone.
  reason text not null check (reason in ('changed', 'deleted', 'moved')),
  due_at timestamptz not null default clock_timestamp()
);
create index catalog_changes_due on catalog_changes (due_at);

create function note_catalog_change(changed_id bigint, reason text) returns void language plpgsql as $$
begin
  if changed_id is not null and exists (select from catalogs where role = 'producer') then
    insert into catalog_changes (zone_id, reason) values (changed_id, reason);
  end if;
end $$;

-- A zone is a member while nodes serve it whole: it is not deleted, and no mark at its apex says otherwise. Marks change
-- together with the columns of domains and copies. A new zone is inserted as a deleted one, and then updated.
create function note_catalog_zone() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  perform note_catalog_change(new.id, case when new.deleted_at is null then 'changed' else 'deleted' end);
  return null;
end $$;
create trigger zones_catalog after update of deleted_at, policy_id on zones for each row
  when (old.deleted_at is distinct from new.deleted_at or old.policy_id is distinct from new.policy_id)
  execute function note_catalog_zone();

create function note_catalog_domain() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  perform note_catalog_change(new.zone_id, 'changed');
  if old.zone_id is distinct from new.zone_id then perform note_catalog_change(old.zone_id, 'changed'); end if;
  return null;
end $$;
create trigger domains_catalog after update of zone_id, served, account_id on domains for each row
  when (old.zone_id is distinct from new.zone_id or old.served <> new.served or old.account_id <> new.account_id)
  execute function note_catalog_domain();

create function note_catalog_copy() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  perform note_catalog_change(coalesce((select zone_id from domains where id = old.domain_id),
    (select id from zones where name = old.zone_name)), 'changed');
  return null;
end $$;
create trigger secondaries_catalog after update of serial, expired_at on secondaries for each row
  when ((old.serial is null) <> (new.serial is null) or (old.expired_at is null) <> (new.expired_at is null))
  execute function note_catalog_copy();
create trigger secondaries_catalog_end after delete on secondaries for each row execute function note_catalog_copy();

-- Zones without a policy of their own have the default one. Its creation or removal may change their groups.
create function compare_catalogs() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  update catalogs set compared_at = null where group_by_policy;
  return null;
end $$;
create trigger transfer_policies_catalog after insert or delete on transfer_policies
  for each statement execute function compare_catalogs();
