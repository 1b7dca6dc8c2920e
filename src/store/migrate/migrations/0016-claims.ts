// Several accounts may claim one name: a domain may be pending without a zone. What a set of nameserver names proves, and
// what the parent showed, is remembered by name. Processes from before cannot work with this schema.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`lock table domains, name_holders in access exclusive mode`).execute(db);
  for (const statement of ADDED) await sql.raw(statement).execute(db);
  await takeOverPresets(db);
  for (const statement of DROPPED) await sql.raw(statement).execute(db);
}

const ADDED = [
  `alter table domains
     add column ns_sets jsonb,
     add column open boolean not null default false,
     add column by_operator boolean not null default false,
     add column banned_name boolean not null default false,
     add column claimed_at timestamptz,
     add column ended_at timestamptz,
     add column lent_ns text[],
     add column turn_asked_at timestamptz,
     add column turn_last_asked_at timestamptz,
     add column turn_from timestamptz,
     add column turn_until timestamptz`,
  `update domains set claimed_at = coalesce(pending_since, created_at), open = preset = 'clear',
     turn_asked_at = case when status = 'pending' then coalesce(pending_since, created_at) end,
     banned_name = status = 'banned' and zone_id is not null,
     ended_at = case when status = 'disabled' and disabled_by = 'checker' then updated_at end`,
  `alter table domain_checks add column conclusive_others boolean, add column takeover_seen_at timestamptz,
     add column witness_at timestamptz`,
  `update domain_checks set conclusive_others = false where conclusive_at is not null`,
  `alter table plans add column max_claims integer check (max_claims >= 0)`,
  `update plans set max_claims = case slug when 'free' then 100 when 'pro' then 10000 end`,
  // What an account may prove a name with. A right to a set that no other account ever gets for this name is exclusive.
  `create table ns_rights (
     name text collate "C" not null,
     names text[] not null,
     account_id bigint not null references accounts,
     exclusive boolean not null,
     made_at timestamptz not null default clock_timestamp(),
     primary key (name, names)
   )`,
  // No row is ever added beyond 65 for a name (src/store/claims/sightings.ts).
  `create table ns_sightings (
     name text collate "C" not null,
     names text[] not null,
     first_seen_at timestamptz not null,
     last_seen_at timestamptz not null,
     primary key (name, names)
   )`,
  `create index ns_sightings_old on ns_sightings (last_seen_at)`,
  `create table name_takeovers (
     name text collate "C" not null,
     at timestamptz not null,
     from_account_id bigint not null,
     to_account_id bigint not null,
     primary key (name, at)
   )`,
  `alter table name_holders drop constraint name_holders_pkey, add primary key (name, account_id)`,
  // An active domain's set, as far as it is known, is its account's right.
  `insert into ns_rights (name, names, account_id, exclusive)
     select d.name, (select array_agg(n order by n) from unnest(d.delegated_ns) n), d.account_id, false
     from domains d
     where d.deleted_at is null and d.zone_id is not null and d.delegated_ns is not null
       and (d.status in ('active', 'moved') or d.leaving)
     on conflict do nothing`,
];

/** A preset delegation took sets away: those that are left are the domain's. */
async function takeOverPresets(db: Kysely<unknown>): Promise<void> {
  const { rows: settings } = await sql<{ value: string[][] }>`
    select value from settings where name = 'NAMESERVER_SETS'`.execute(db);
  const sets = (settings[0]?.value ?? []).map((set) =>
    set.map((name) => (name.endsWith('.') ? name : `${name}.`).toLowerCase()),
  );
  const { rows } = await sql<{ id: number; taken: string[][] }>`
    select id, preset_taken as taken from domains where preset = 'standing'`.execute(db);
  const keyOf = (set: readonly string[]) => [...set].sort().join(' ');
  for (const { id, taken } of rows) {
    const gone = new Set(taken.map(keyOf));
    const left = sets.filter((set) => !gone.has(keyOf(set))).map((names) => ({ names, exclusive: false }));
    await sql`update domains set ns_sets = ${JSON.stringify(left)}::jsonb where id = ${id}`.execute(db);
  }
}

const DROPPED = [
  'alter table domains drop column preset, drop column preset_taken',
  // A claim may wait without a zone; the others still have one, or are off.
  `do $$
   declare
     found text;
   begin
     select conname into strict found from pg_constraint
     where conrelid = 'domains'::regclass and contype = 'c'
       and pg_get_constraintdef(oid) like '%zone_id IS NOT NULL%deleted_at IS NOT NULL%';
     execute format('alter table domains drop constraint %I', found);
   end $$`,
  "create index domains_account_waiting on domains (account_id) where deleted_at is null and status in ('pending', 'unverified')",
];
