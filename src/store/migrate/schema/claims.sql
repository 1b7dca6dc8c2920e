-- Claims of several accounts on one name: which nameserver sets prove a name for whom, and what parents have shown.

-- Accounts that had a name active. Kept longer than a deleted domain.
create table name_holders (
  name text collate "C" not null,
  account_id bigint not null references accounts,
  -- When the account's domain was last known to be active.
  active_at timestamptz not null,
  primary key (name, account_id)
);

-- The sets with which an account may prove a name. An exclusive set is never given to another account for this name.
create table ns_rights (
  name text collate "C" not null,
  -- Sorted.
  names text[] not null,
  account_id bigint not null references accounts,
  exclusive boolean not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (name, names)
);

-- Nameservers of the fleet that the parent of a name has shown. At most 65 rows per name
-- (src/store/claims/sightings.ts).
create table ns_sightings (
  name text collate "C" not null,
  -- Sorted.
  names text[] not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (name, names)
);
create index ns_sightings_old on ns_sightings (last_seen_at);

-- When a name passed from one account to another.
create table name_takeovers (
  name text collate "C" not null,
  at timestamptz not null,
  from_account_id bigint not null,
  to_account_id bigint not null,
  primary key (name, at)
);

-- Names whose last domain has ended and that are still checked, at most a thousand per account.
create table swept_names (
  name text collate "C" primary key,
  -- The account that first had the name in this state.
  account_id bigint not null,
  ended_at timestamptz not null,
  due_at timestamptz not null,
  -- True if the newest conclusive check saw a nameserver of the fleet.
  is_shown boolean not null default true
);
create index swept_names_due on swept_names (account_id, due_at);

-- All combinations of the nameserver pool that were ever assigned. A row is kept forever, even after its account is
-- deleted, so that no other account gets the set. That is why account_id has no foreign key.
create table given_ns_sets (
  -- Folded names, one of each list of the pool, in the order of the lists.
  names text[] primary key,
  kind text not null check (kind in ('exclusive', 'substitute', 'shared')),
  account_id bigint,
  given_at timestamptz not null default clock_timestamp(),
  check ((kind = 'exclusive') = (account_id is not null))
);
create index given_ns_sets_kind on given_ns_sets (kind);

-- The set of each account that has one.
create table account_ns_sets (
  account_id bigint primary key,
  names text[] not null references given_ns_sets,
  given_at timestamptz not null default clock_timestamp()
);

-- When takeover mails were ordered in the last day, to limit them: `mails` keeps only those not yet sent.
create table takeover_mails (
  domain_id bigint not null references domains on delete cascade,
  account_id bigint not null references accounts,
  at timestamptz not null default clock_timestamp()
);
create index takeover_mails_domain on takeover_mails (domain_id, at);
create index takeover_mails_account on takeover_mails (account_id, at);
create index takeover_mails_at on takeover_mails (at);

-- Orders the mails that warn the holder of a name: to the owner and to the domain's admins, ten in all, at most 4 times
-- a day for a domain and 50 for an account. Returns false if a limit is reached. It runs with the rights of the owner
-- of the tables, because workers process data of third parties and may not read accounts.
create function order_takeover_mails(holder bigint, sentence text) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into takeover_mails (domain_id, account_id)
    select d.id, d.account_id from domains d
    where d.id = holder
      and (select count(*) from (select from takeover_mails t
        where t.domain_id = d.id and t.at > clock_timestamp() - interval '1 day' limit 4) t) < 4
      and (select count(*) from (select from takeover_mails t
        where t.account_id = d.account_id and t.at > clock_timestamp() - interval '1 day' limit 50) t) < 50;
  if not found then
    return false;
  end if;
  insert into mails (kind, email, account_id, domain_id, message)
    select 'takeover', a.email, a.id, d.id, sentence
    from domains d join accounts a on a.active and (a.id = d.account_id or exists (
      select from memberships m where m.domain_id = d.id and m.account_id = a.id and m.role = 'admin'))
    where d.id = holder order by a.id <> d.account_id, a.id limit 10;
  return true;
end $$;
revoke all on function order_takeover_mails(bigint, text) from public;
