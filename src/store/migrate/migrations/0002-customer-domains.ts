// Accounts, keys and plans; customers' domains, their records and the log of their changes. What the planner decides
// about the records at one name is checked here a second time, at the end of each statement.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const ADDRESS_LIKE = "('A', 'AAAA', 'CNAME', 'ANAME')";

const STATEMENTS = [
  `create table plans (
     id bigint generated always as identity primary key,
     slug text not null unique,
     name text not null,
     max_records integer check (max_records >= 0),
     max_traffic_gb integer check (max_traffic_gb >= 0),
     max_rules_per_set integer check (max_rules_per_set >= 0),
     max_cache_cap_mb integer not null,
     logs_enabled boolean not null,
     monitoring_enabled boolean not null,
     rules_enabled boolean not null,
     cache_purge_enabled boolean not null,
     custom_ssl_enabled boolean not null,
     ws_enabled boolean not null,
     host_header_edit_enabled boolean not null,
     dedicated_support_enabled boolean not null,
     term_id bigint not null,
     billing_duration_days integer not null,
     quota_reset_days integer not null
   )`,
  `insert into plans (slug, name, max_records, max_traffic_gb, max_rules_per_set, max_cache_cap_mb, logs_enabled,
     monitoring_enabled, rules_enabled, cache_purge_enabled, custom_ssl_enabled, ws_enabled,
     host_header_edit_enabled, dedicated_support_enabled, term_id, billing_duration_days, quota_reset_days)
   values ('free', 'Free', 200, 100, 5, 512, false, false, true, true, false, true, false, false, 1, 30, 30),
     ('pro', 'Pro', null, null, null, 4096, true, true, true, true, true, true, true, true, 2, 30, 30)`,

  `create table accounts (
     id bigint generated always as identity primary key,
     email text not null check (length(email) between 1 and 254),
     name text,
     is_admin boolean not null default false,
     active boolean not null default true,
     provider_id bigint references accounts,
     plan_id bigint references plans,
     created_at timestamptz not null default clock_timestamp(),
     updated_at timestamptz not null default clock_timestamp()
   )`,
  `create unique index accounts_email on accounts (lower(email))`,

  `create table api_keys (
     id bigint generated always as identity primary key,
     account_id bigint not null references accounts,
     name text not null,
     prefix text not null,
     hash bytea not null unique check (octet_length(hash) = 32),
     read_only boolean not null default false,
     domains text[],
     names text[],
     types text[],
     expires_at timestamptz,
     revoked_at timestamptz,
     last_used_at timestamptz,
     created_at timestamptz not null default clock_timestamp()
   )`,
  `create index api_keys_account on api_keys (account_id, id)`,

  // Whoever has a zone holds the name; a deleted domain does not, and nor does one that lost it to another claim. Room
  // is left in the pages, since each edit updates columns that no index has.
  `create table domains (
     id bigint generated always as identity primary key,
     account_id bigint not null references accounts,
     name text collate "C" not null check (name = lower(name) and name like '%.'),
     unicode text not null,
     zone_id bigint unique references zones,
     dns_mode text not null check (dns_mode in ('managed', 'external')),
     status text not null check (status in ('pending', 'unverified', 'active', 'moved', 'disabled', 'banned')),
     disabled_by text check (disabled_by in ('operator', 'checker')),
     served text not null check (served in ('full', 'apex', 'none')),
     leaving boolean not null default false,
     suspended_at timestamptz,
     serial bigint not null check (serial between 1 and 4294967295),
     record_count integer not null default 0 check (record_count >= 0),
     answers_generation integer not null,
     plan_id bigint references plans,
     created_at timestamptz not null,
     updated_at timestamptz not null,
     deleted_at timestamptz,
     pending_since timestamptz,
     moved_since timestamptz,
     next_check_at timestamptz,
     last_manual_ns_check_at timestamptz,
     ns_check_interval_seconds integer,
     current_ns text[],
     delegated_ns text[],
     chosen_ns text[],
     verification_value text,
     verification_started_at timestamptz,
     verification_expires_at timestamptz,
     verified_at timestamptz,
     findings jsonb not null default '[]',
     cache_l2_max_gb integer not null default 10 check (cache_l2_max_gb >= 0),
     cache_l2_ttl_days integer not null default 7 check (cache_l2_ttl_days between 1 and 7),
     cache_cap_mb integer not null default 512 check (cache_cap_mb in (128, 256, 512, 2048, 4096)),
     developer_mode_until timestamptz,
     sec_no_sniff boolean not null default false,
     sec_referrer_policy boolean not null default false,
     sec_strip_headers boolean not null default false,
     markdown_for_agents boolean not null default false,
     outage_alerts boolean not null default false,
     uptime_threshold_pct integer not null default 80 check (uptime_threshold_pct between 50 and 100),
     uptime_window_min integer not null default 5 check (uptime_window_min between 2 and 60),
     uptime_min_requests integer not null default 20 check (uptime_min_requests >= 0),
     uptime_min_active_min integer not null default 3 check (uptime_min_active_min >= 0),
     uptime_recover_min integer not null default 3 check (uptime_recover_min >= 0),
     check (deleted_at is null or zone_id is null),
     check (served = 'none' or zone_id is not null),
     check (status not in ('disabled', 'banned') or served = 'none'),
     check (zone_id is not null or deleted_at is not null or status in ('disabled', 'banned'))
   ) with (fillfactor = 80)`,
  `create index domains_name on domains (name, id)`,
  // What lies below a name.
  `create index domains_below on domains (reverse(name) collate "C") where zone_id is not null`,
  `create index zones_below on zones (reverse(name) collate "C") where kind = 'operator' and deleted_at is null`,
  ...['', 'account_id, '].flatMap((first) =>
    [...(first === '' ? [] : ['name']), 'created_at', 'status', "coalesce(next_check_at, 'infinity')"].map(
      (sort, i) => {
        const name = `domains_list_${first === '' ? 'all' : 'account'}_${i}`;
        return `create index ${name} on domains (${first}(${sort}), id) where deleted_at is null`;
      },
    ),
  ),
  `create index domains_deleted on domains (deleted_at) where deleted_at is not null`,

  `create table memberships (
     domain_id bigint not null references domains on delete cascade,
     account_id bigint not null references accounts,
     role text not null check (role in ('admin', 'editor', 'viewer')),
     created_at timestamptz not null default clock_timestamp(),
     primary key (domain_id, account_id)
   )`,
  `create index memberships_account on memberships (account_id, domain_id)`,

  `create table subscriptions (
     id bigint generated always as identity primary key,
     domain_id bigint not null references domains on delete cascade,
     account_id bigint not null references accounts,
     plan_id bigint not null references plans,
     status text not null check (status in ('active', 'expired', 'grace', 'cancelled')),
     started_at timestamptz not null default clock_timestamp(),
     expires_at timestamptz,
     grace_until timestamptz,
     auto_renew boolean not null default true,
     quota_reset_days integer not null,
     is_trial boolean not null default false
   )`,
  `create index subscriptions_domain on subscriptions (domain_id, id)`,
  `create unique index subscriptions_active on subscriptions (domain_id) where status = 'active'`,

  `create table records (
     id bigint generated by default as identity primary key,
     domain_id bigint not null references domains on delete cascade,
     name text collate "C" not null check (name = lower(name)),
     type text not null check (type in ('A', 'AAAA', 'CNAME', 'ANAME', 'NS', 'TXT', 'MX', 'SRV', 'PTR', 'CAA', 'TLSA',
       'SSHFP', 'URI', 'HTTPS', 'SVCB', 'DS', 'NAPTR')),
     rdata bytea not null check (octet_length(rdata) between 1 and 65535),
     identity bytea not null check (octet_length(identity) between 1 and 33),
     destination text not null,
     ttl integer not null check (ttl between 60 and 86400),
     proxied boolean not null check (not proxied or type in ${ADDRESS_LIKE}),
     captcha boolean not null,
     scheme text not null check (scheme in ('Http', 'Https', 'Auto', 'Default')),
     port integer not null check (port between 1 and 65535),
     host_header text,
     monitor boolean not null,
     dest_country text check (dest_country ~ '^[A-Z]{2}$'),
     timeout integer not null check (timeout between 1 and 3600),
     comment text check (length(comment) <= 1024),
     managed boolean not null default false check (not managed or type = 'NS'),
     created_at timestamptz not null,
     updated_at timestamptz not null
   )`,
  `create index records_name on records (domain_id, name, id)`,
  `create index records_type on records (domain_id, type, id)`,
  `create index records_updated on records (domain_id, updated_at, id)`,

  // Deletes, updates and creates of an edit are one statement each, in this order; each leaves a part of a result that
  // is in order, which is in order itself. The domain's lock makes it hold for several writers too.
  // Executed as text, so that it is planned each time: a session would keep the plan that it made for an empty table.
  `create function check_records() returns trigger language plpgsql as $$
   declare
     bad record;
   begin
     perform from domains where id in (select domain_id from written) order by id for update;
     execute $query$
     select w.name, r.fault
     from (select distinct n.domain_id, n.name, d.name as apex from written n join domains d on d.id = n.domain_id) w
     cross join lateral (
       select case
         when count(*) filter (where r.type in ('CNAME', 'ANAME')) > 1 then 'more than one CNAME or ANAME'
         when count(*) > 1 and bool_or(r.type = 'CNAME' and not r.proxied) then 'a CNAME and something else'
         when bool_or(r.type = 'ANAME' and not r.proxied)
           and count(*) filter (where r.type in ${ADDRESS_LIKE}) > 1 then 'an ANAME and other addresses'
         when count(distinct r.proxied) filter (where r.type in ${ADDRESS_LIKE}) > 1
           then 'proxied addresses and others'
         when count(*) > 1 and count(distinct (r.type, r.ttl)) > count(distinct r.type)
           then 'a record set with several TTLs'
         when count(*) > 1 and count(*) filter (where r.type <> 'TXT')
           > count(distinct (r.type, r.identity)) filter (where r.type <> 'TXT') then 'the same record twice'
         when w.name = w.apex and bool_or(not r.managed
           and (r.type in ('NS', 'DS') or r.type = 'CNAME' and not r.proxied)) then 'a type that no apex has'
         when w.name <> w.apex and (bool_or(r.managed)
           or right(w.name, length(w.apex) + 1) <> '.' || w.apex) then 'a record of another domain'
         end as fault
       from records r where r.domain_id = w.domain_id and r.name = w.name) r
     where r.fault is not null limit 1
     $query$ into bad;
     if bad.fault is not null then
       raise exception '% has %', bad.name, bad.fault
         using errcode = 'check_violation', table = 'records', constraint = 'records_at_one_name';
     end if;
     return null;
   end $$`,
  ...['insert', 'update'].map(
    (event) => `create trigger records_${event} after ${event} on records
      referencing new table as written for each statement execute function check_records()`,
  ),

  // Apart from the feed, which is purged: this is kept as long as the domain.
  `create table domain_changes (
     id bigint primary key,
     domain_id bigint not null references domains on delete cascade,
     account_id bigint not null,
     serial bigint not null,
     at timestamptz not null,
     operation text not null check (operation in
       ('create', 'edit', 'status', 'nameservers', 'settings', 'delete', 'restore')),
     source text not null,
     actor_kind text not null,
     actor_account_id bigint,
     actor_key_id bigint,
     actor_address text,
     actor_name text,
     ops jsonb not null default '[]',
     status_from text,
     status_to text,
     check_id bigint,
     reverts bigint,
     xid xid8 not null default pg_current_xact_id()
   )`,
  `create index domain_changes_domain on domain_changes (domain_id, id)`,
  `create index domain_changes_account on domain_changes (account_id, id)`,

  // A claim is made in the transaction that does the work, and its response added at the end of it.
  `create table idempotency_keys (
     account_id bigint not null references accounts,
     key text not null check (octet_length(key) between 1 and 764),
     method text not null,
     path text not null,
     body_hash bytea not null,
     response json,
     created_at timestamptz not null default clock_timestamp(),
     primary key (account_id, key)
   )`,
];
