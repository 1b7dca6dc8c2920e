-- Customers' domains, their records and the log of their changes.

-- Every part of one to three characters of a name, and the account. An index over these finds a part of a name without
-- the trigram extension, which the embedded Postgres does not have.
create function domain_parts(account_id bigint, name text, shown text) returns text[]
  language sql immutable parallel safe as $$
  select array(
    select distinct substr(t, i, n)
    from (values (name collate "C"), (case when shown || '.' <> name collate "C" then shown collate "C" end)) v (t),
      generate_series(1, 3) n, generate_series(1, length(t) - n + 1) i) || ('#' || account_id)
$$;

-- The codes of findings, each alone and with the account.
create function finding_marks(account_id bigint, findings jsonb) returns text[]
  language sql immutable parallel safe as $$
  select array(
    select distinct m from jsonb_array_elements(findings) f,
      lateral (values (f ->> 'code'), (account_id || ' ' || (f ->> 'code'))) v (m))
$$;

-- The domain that has a zone holds the name. A deleted domain has none, nor does a claim that waits for the name or
-- lost it. The fill factor leaves room for the next version of a row on the same page, since edits update columns that
-- no index contains.
create table domains (
  id bigint generated always as identity primary key,
  account_id bigint not null references accounts,
  name text collate "C" not null check (name = lower(name) and name like '%.'),
  -- The name in Unicode, for people.
  unicode text not null,
  zone_id bigint unique references zones,

  dns_mode text not null check (dns_mode in ('managed', 'external')),
  status text not null check (status in ('pending', 'unverified', 'active', 'moved', 'disabled', 'banned')),
  disabled_by text check (disabled_by in ('operator', 'checker')),
  served text not null check (served in ('full', 'apex', 'none')),
  -- True while an external domain is still served, until the parent no longer shows a server of the fleet.
  leaving boolean not null default false,
  leaving_since timestamptz,
  suspended_at timestamptz,
  -- Suspended for a debt of the account; independent of `suspended_at`, which operators set.
  debt_suspended_at timestamptz,
  -- True if the domain held its name when it was banned: then the name is banned, too.
  banned_name boolean not null default false,
  pending_since timestamptz,
  moved_since timestamptz,
  -- When the checker disabled the domain.
  ended_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,

  -- The claim on the name.
  -- When the domain became pending or unverified.
  claimed_at timestamptz,
  -- True if a pending domain may be answered completely before it is proved.
  open boolean not null default false,
  -- True if an operator created or restored the domain.
  by_operator boolean not null default false,
  -- True if an operator approved a pending domain in advance: the first set of the fleet that the parent shows proves
  -- it.
  approved_ahead boolean not null default false,
  -- The sets of nameservers that prove the domain, its own first: [{names, exclusive}]. Null is any set of
  -- NAMESERVER_SETS.
  ns_sets jsonb,
  -- The set that the parent shows, and the one that the owner chose.
  delegated_ns text[],
  chosen_ns text[],
  -- The nameservers of a claim that waits for this name. The apex shows them while the parent does not show the
  -- domain's own.
  lent_ns text[],
  -- The turn in which a waiting claim has its nameservers shown.
  turn_asked_at timestamptz,
  turn_last_asked_at timestamptz,
  turn_from timestamptz,
  turn_until timestamptz,

  serial bigint not null check (serial between 1 and 4294967295),
  record_count integer not null default 0 check (record_count >= 0),
  -- The generation of the settings that the published records depend on.
  answers_generation integer not null,
  -- [{code, message, names}] of the newest check.
  findings jsonb not null default '[]',

  -- The plan and the overrides of the domain's subscription, copied so that reading a domain does not read the
  -- subscription.
  plan_id bigint references plans,
  plan_overrides jsonb,

  -- Settings of the owner.
  cache_l2_max_gb integer not null default 10 check (cache_l2_max_gb >= 0),
  cache_l2_ttl_days integer not null default 7 check (cache_l2_ttl_days between 1 and 7),
  cache_cap_mb integer not null default 512 check (cache_cap_mb in (128, 256, 512, 2048, 4096)),
  developer_mode_until timestamptz,
  sec_no_sniff boolean not null default false,
  sec_referrer_policy boolean not null default false,
  sec_strip_headers boolean not null default false,
  markdown_for_agents boolean not null default false,
  -- The regions whose edges serve the domain; null is all.
  edge_regions text[],
  outage_alerts boolean not null default false,
  uptime_threshold_pct integer not null default 80 check (uptime_threshold_pct between 50 and 100),
  uptime_window_min integer not null default 5 check (uptime_window_min between 2 and 60),
  uptime_min_requests integer not null default 20 check (uptime_min_requests >= 0),
  uptime_min_active_min integer not null default 3 check (uptime_min_active_min >= 0),
  uptime_recover_min integer not null default 3 check (uptime_recover_min >= 0),

  check (deleted_at is null or zone_id is null),
  check (served = 'none' or zone_id is not null),
  check (status not in ('disabled', 'banned') or served = 'none'),
  -- The target of foreign keys that keep a copy of the account.
  constraint domains_id_account unique (id, account_id)
) with (fillfactor = 80);
create index domains_name on domains (name, id);
-- Finds the domains below a name.
create index domains_below on domains (reverse(name) collate "C") where deleted_at is null;
create index domains_deleted on domains (deleted_at) where deleted_at is not null;
create index domains_in_debt on domains (id) where debt_suspended_at is not null;
create index domains_account_waiting on domains (account_id)
  where deleted_at is null and status in ('pending', 'unverified');
-- Lists of all domains, and of an account's, in each order. `domains_name` and `domain_checks_list_…` are the others.
create index domains_list_all_0 on domains (created_at, id) where deleted_at is null;
create index domains_list_all_1 on domains (status, id) where deleted_at is null;
create index domains_list_account_0 on domains (account_id, name, id) where deleted_at is null;
create index domains_list_account_1 on domains (account_id, created_at, id) where deleted_at is null;
create index domains_list_account_2 on domains (account_id, status, id) where deleted_at is null;
-- Every search also reads the pending list of the index. A short list makes both searches and inserts fast.
create index domains_parts on domains using gin (domain_parts(account_id, name, unicode))
  with (gin_pending_list_limit = 256) where deleted_at is null;
create index domains_findings on domains using gin (finding_marks(account_id, findings)) with (fastupdate = off)
  where deleted_at is null and findings <> '[]';

create table memberships (
  domain_id bigint not null references domains on delete cascade,
  account_id bigint not null references accounts,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  -- Null if an operator, or the member itself, created the membership.
  granted_by bigint references accounts,
  created_at timestamptz not null default clock_timestamp(),
  primary key (domain_id, account_id)
);
create index memberships_account on memberships (account_id, domain_id);

create table records (
  id bigint generated by default as identity primary key,
  domain_id bigint not null references domains on delete cascade,
  name text collate "C" not null check (name = lower(name)),
  -- TYPEnnn is a type without a mnemonic (RFC 3597), whose rdata may be empty.
  type text not null check (type in ('A', 'AAAA', 'CNAME', 'ANAME', 'NS', 'TXT', 'MX', 'SRV', 'PTR', 'CAA', 'TLSA',
    'SSHFP', 'URI', 'HTTPS', 'SVCB', 'DS', 'NAPTR', 'LOC', 'DNAME', 'SMIMEA', 'OPENPGPKEY', 'CERT', 'HINFO', 'DHCID')
    or type ~ '^TYPE[1-9][0-9]{0,4}$'),
  rdata bytea not null
    constraint records_rdata_check
      check (octet_length(rdata) <= 65535 and (octet_length(rdata) > 0 or type like 'TYPE%')),
  -- Equal for equal records: the rdata with folded names, or its hash if it is long.
  identity bytea not null
    constraint records_identity_check
      check (octet_length(identity) <= 33 and (octet_length(identity) > 0 or type like 'TYPE%')),
  -- The rdata as the API prints it, for searches. A host has no final dot here.
  destination text not null,
  ttl integer not null check (ttl between 60 and 86400),
  proxied boolean not null check (not proxied or type in ('A', 'AAAA', 'CNAME', 'ANAME')),
  captcha boolean not null,
  scheme text not null check (scheme in ('Http', 'Https', 'Auto', 'Default')),
  port integer not null check (port between 1 and 65535),
  host_header text,
  monitor boolean not null,
  dest_country text check (dest_country ~ '^[A-Z]{2}$'),
  timeout integer not null check (timeout between 1 and 3600),
  comment text check (length(comment) <= 1024),
  -- True for the service's own records: NS at the apex, and TXT records that answer a certificate authority.
  managed boolean not null default false constraint records_managed check (not managed or type in ('NS', 'TXT')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index records_name on records (domain_id, name, id);
create index records_type on records (domain_id, type, id);
create index records_updated on records (domain_id, updated_at, id);
create index records_proxied on records (domain_id) where proxied;
create index records_monitored on records (domain_id) where proxied and monitor;
-- Finds records that name a host. The host is the last word of `destination`.
create index records_host on records (domain_id, (lower(split_part(destination, ' ', -1) collate "C")))
  where type in ('NS', 'MX', 'SRV') and not managed;
create index records_aname_domain on records (domain_id) where type = 'ANAME';
create index records_aname_target on records (lower(destination collate "C"), domain_id)
  where type = 'ANAME' and not proxied;

-- Checks at the end of each statement what the planner of an edit decided about the records of one name. The deletes,
-- updates and creates of an edit are one statement each, in this order, and each must leave a valid state. The lock on
-- the domain makes the rule hold for concurrent writers.
--
-- Only names with several records are read again. LIMIT makes Postgres look them up one by one, and without sequential
-- scans it uses the index, even in a plan that the session made for an empty table.
create function check_records() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  bad record;
begin
  perform from domains where id in (select domain_id from written) order by id for update;
  select w.name, r.fault into bad
  from (
    select distinct n.domain_id, n.name from written n
    cross join lateral (
      select from records o where o.domain_id = n.domain_id and o.name = n.name and o.id <> n.id limit 1) other) w
  cross join lateral (
    select case
      when count(*) filter (where r.type in ('CNAME', 'ANAME')) > 1 then 'more than one CNAME or ANAME'
      when count(*) filter (where r.type = 'DNAME') > 1 then 'more than one DNAME'
      when bool_or(r.type = 'CNAME' and not r.proxied) then 'a CNAME and something else'
      when bool_or(r.type = 'ANAME' and not r.proxied)
        and count(*) filter (where r.type in ('A', 'AAAA', 'CNAME', 'ANAME')) > 1 then 'an ANAME and other addresses'
      when count(distinct r.proxied) filter (where r.type in ('A', 'AAAA', 'CNAME', 'ANAME')) > 1
        then 'proxied addresses and others'
      when count(distinct (r.type, r.ttl)) > count(distinct r.type) then 'a record set with several TTLs'
      when count(*) filter (where r.type <> 'TXT')
        > count(distinct (r.type, r.identity)) filter (where r.type <> 'TXT') then 'the same record twice'
      end as fault
    from records r where r.domain_id = w.domain_id and r.name = w.name) r
  where r.fault is not null limit 1;
  if bad.fault is null then
    select n.name, case when n.name = d.name then 'a type that no apex has' else 'a record of another domain' end as fault
    into bad
    from written n join domains d on d.id = n.domain_id
    where case when n.name = d.name
      then not n.managed and (n.type in ('NS', 'DS') or n.type = 'CNAME' and not n.proxied)
      else n.managed and n.type = 'NS' or right(n.name, length(d.name) + 1) <> '.' || d.name end
    limit 1;
  end if;
  if bad.fault is not null then
    raise exception '% has %', bad.name, bad.fault
      using errcode = 'check_violation', table = 'records', constraint = 'records_at_one_name';
  end if;
  return null;
end $$;
create trigger records_insert after insert on records
  referencing new table as written for each statement execute function check_records();
create trigger records_update after update on records
  referencing new table as written for each statement execute function check_records();

-- The log that customers see: one row for each change of a domain, with the id of the change in `changes`. Unlike that
-- feed it is kept as long as the domain.
create table domain_changes (
  id bigint primary key,
  domain_id bigint not null references domains on delete cascade,
  -- The account of the owner at that time.
  account_id bigint not null,
  serial bigint not null,
  at timestamptz not null,
  operation text not null check (operation in ('create', 'edit', 'status', 'nameservers', 'settings', 'delete',
    'restore', 'addresses', 'move', 'dnssec', 'rules')),
  source text not null,
  actor_kind text not null,
  actor_account_id bigint,
  actor_key_id bigint,
  actor_address text,
  actor_name text,
  -- The operations on records and on rules.
  ops jsonb not null default '[]',
  rules jsonb,
  status_from text,
  status_to text,
  check_id bigint,
  -- The change that this one reverts.
  reverts bigint,
  xid xid8 not null default pg_current_xact_id()
);
create index domain_changes_domain on domain_changes (domain_id, id);
create index domain_changes_account on domain_changes (account_id, id);
