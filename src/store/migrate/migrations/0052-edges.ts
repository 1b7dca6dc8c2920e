// Edge nodes, and the feed of what they are told: a row for each domain name that has had a proxied record, with its newest
// version and the transaction that wrote it. A row is replaced, never added twice, so a reader that was away finds every change.
// Triggers write it, since many paths change a domain and an edge must miss none of them.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** What of a domain's row an edge is told, or what decides whether it is told anything. */
const TOLD_COLUMNS = [
  'status',
  'served',
  'dns_mode',
  'suspended_at',
  'deleted_at',
  'plan_id',
  'plan_overrides',
  'edge_regions',
  'cache_l2_max_gb',
  'cache_l2_ttl_days',
  'cache_cap_mb',
  'developer_mode_until',
  'sec_no_sniff',
  'sec_referrer_policy',
  'sec_strip_headers',
  'markdown_for_agents',
];

const STATEMENTS = [
  `create table edges (
     id bigint generated always as identity primary key,
     name text not null unique check (name ~ '^[a-z0-9]([a-z0-9.-]{0,62})$'),
     region text not null check (region ~ '^[a-z0-9]([a-z0-9-]{0,31})$'),
     v4 text[] not null default '{}',
     v6 text[] not null default '{}',
     token_hash bytea not null unique,
     token_prefix text not null,
     token_made_at timestamptz not null default now(),
     created_at timestamptz not null default now(),
     drained_at timestamptz,
     revoked_at timestamptz,
     seen_at timestamptz,
     seen_address text,
     software text,
     load double precision,
     config_cursor text
   )`,
  // What an edge said last of rules that it cannot obey. It may say so of any id: whoever reads it asks which rules are told it.
  `create table edge_unsupported (
     rule_id bigint not null,
     edge_id bigint not null references edges on delete cascade,
     why text not null,
     primary key (rule_id, edge_id)
   )`,
  `create index edge_unsupported_of on edge_unsupported (edge_id)`,
  // Countries without a row are answered with the default addresses.
  `create table edge_countries (
     country text primary key check (country ~ '^[A-Z]{2}$'),
     region text not null
   )`,

  // Null: edges of every region serve the domain.
  `alter table domains add column edge_regions text[]`,

  `create sequence edge_version`,
  `create table edge_changes (
     name text collate "C" primary key,
     version bigint not null default nextval('edge_version'),
     xid xid8 not null default pg_current_xact_id(),
     at timestamptz not null default now()
   )`,
  `create index edge_changes_xid on edge_changes (xid)`,
  // The newest row that housekeeping has deleted: whoever has not seen that transaction is told everything.
  `alter table feed add column edge_purged_xid xid8 not null default '0'`,

  // A transaction that notes a name many times writes its row once.
  `create function note_edge_change(changed text) returns void language sql as $$
     update edge_changes set version = nextval('edge_version'), xid = pg_current_xact_id(), at = now()
     where name = changed and xid <> pg_current_xact_id() $$`,

  `create function note_edge_domain() returns trigger language plpgsql as $$
   begin
     perform note_edge_change(new.name);
     return null;
   end $$`,
  `create trigger domains_edge after update on domains for each row
     when ((${TOLD_COLUMNS.map((column) => `old.${column}`).join(', ')}) is distinct from
       (${TOLD_COLUMNS.map((column) => `new.${column}`).join(', ')}))
     execute function note_edge_domain()`,
  // A domain that is removed for good was not served any more.

  // For each statement, since a batch has thousands of rows. A domain that goes with its records was not served any more.
  `create function note_edge_records(ids bigint[]) returns void language sql as $$
     insert into edge_changes (name) select distinct d.name from domains d where d.id = any(ids) order by d.name
     on conflict (name) do update set version = nextval('edge_version'), xid = pg_current_xact_id(), at = now()
       where edge_changes.xid <> pg_current_xact_id() $$`,
  ...[
    ['insert', 'new table as new_records', 'select domain_id from new_records where proxied'],
    ['delete', 'old table as old_records', 'select domain_id from old_records where proxied'],
    [
      'update',
      'old table as old_records new table as new_records',
      'select domain_id from old_records where proxied union select domain_id from new_records where proxied',
    ],
  ].flatMap(([operation, tables, ids]) => [
    `create function note_edge_records_${operation}() returns trigger language plpgsql as $$
     declare ids bigint[];
     begin
       ids := array(${operation === 'update' ? ids : ids?.replace('select', 'select distinct')});
       if ids <> '{}' then perform note_edge_records(ids); end if;
       return null;
     end $$`,
    `create trigger records_edge_${operation} after ${operation} on records referencing ${tables}
     for each statement execute function note_edge_records_${operation}()`,
  ]),
  // A config is made of these alone; most records are not proxied.
  `create index records_proxied on records (domain_id) where proxied`,

  // Whether a plan has WebSocket is told with each of its domains.
  `create function note_edge_plan() returns trigger language plpgsql as $$
   begin
     update edge_changes set version = nextval('edge_version'), xid = pg_current_xact_id(), at = now()
     where xid <> pg_current_xact_id() and name in (select name from domains where plan_id = new.id);
     return null;
   end $$`,
  `create trigger plans_edge after update on plans for each row
     when (old.ws_enabled is distinct from new.ws_enabled) execute function note_edge_plan()`,

  `insert into edge_changes (name)
     select distinct d.name from domains d where d.deleted_at is null
       and exists (select 1 from records r where r.domain_id = d.id and r.proxied)`,
];
