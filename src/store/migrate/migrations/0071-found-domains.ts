// Lists of domains are searched along indexes, by a part of the name and by a finding. Postgres's own arrays do it: the
// extension for trigrams is not in every Postgres, the embedded one among them. Nodes report their version and traffic,
// and the breaker's counts are kept by the hour.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Every part of one to three characters of a name, and the account, so that an account's own are found alone.
  `create function domain_parts(account_id bigint, name text, shown text) returns text[]
     language sql immutable parallel safe as $$
     select array(
       select distinct substr(t, i, n)
       from (values (name collate "C"), (case when shown || '.' <> name collate "C" then shown collate "C" end)) v (t),
         generate_series(1, 3) n, generate_series(1, length(t) - n + 1) i) || ('#' || account_id) $$`,
  // The codes of findings, each also with the account.
  `create function finding_marks(account_id bigint, findings jsonb) returns text[]
     language sql immutable parallel safe as $$
     select array(
       select distinct m from jsonb_array_elements(findings) f,
         lateral (values (f ->> 'code'), (account_id || ' ' || (f ->> 'code'))) v (m)) $$`,
  // Each search reads the list of what is still to be added: a short one makes new domains cheaper, and is read soon.
  `create index domains_parts on domains using gin (domain_parts(account_id, name, unicode))
     with (gin_pending_list_limit = 256) where deleted_at is null`,
  `create index domains_findings on domains using gin (finding_marks(account_id, findings)) with (fastupdate = off)
     where deleted_at is null and findings <> '[]'`,
  `create index child_checks_findings on child_checks using gin (findings jsonb_path_ops) with (fastupdate = off)
     where findings <> '[]'`,
  `create index domain_verifications_offered on domain_verifications (domain_id) where offered`,

  // Null: of a version before, or never reported.
  `alter table nodes
     add column version text check (length(version) <= 64),
     add column answered bigint check (answered >= 0),
     add column dropped bigint check (dropped >= 0)`,
  // As check_counts, for longer.
  `create table check_hours (
     hour timestamptz not null,
     parent text collate "C" not null,
     checked integer not null,
     turned integer not null,
     off integer not null,
     primary key (hour, parent)
   )`,
];
