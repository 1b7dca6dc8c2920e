// Takes what the checker and the verifications remember out of the table of domains: it changes at every check, and a
// domain's own row has many indexes. Processes from before cannot work with this schema.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // First of all: what a process of before wrote after the copy would be lost.
  `lock table domains in access exclusive mode`,

  `alter table domains add constraint domains_id_account unique (id, account_id)`,
  // account_id and deleted are the domain's: the list of an account's domains is sorted by next_at, along an index.
  // Room is left in the pages, since each check updates its row.
  `create table domain_checks (
     domain_id bigint primary key,
     account_id bigint not null,
     deleted boolean not null default false,
     parent text collate "C" not null,
     due_at timestamptz,
     next_at timestamptz,
     interval_seconds integer,
     seq bigint not null default 0,
     miss_count integer not null default 0 check (miss_count >= 0),
     first_miss_at timestamptz,
     last_miss_at timestamptz,
     conclusive_at timestamptz,
     conclusive_ours boolean,
     ours_at timestamptz,
     current_ns text[],
     last_run_id bigint,
     last_outcome text,
     last_manual_at timestamptz
   ) with (fillfactor = 80)`,
  `insert into domain_checks (domain_id, account_id, deleted, parent, due_at, next_at, interval_seconds, seq, miss_count,
       first_miss_at, last_miss_at, conclusive_at, conclusive_ours, ours_at, current_ns, last_run_id, last_outcome,
       last_manual_at)
     select id, account_id, deleted_at is not null, check_parent, due_at, next_check_at, ns_check_interval_seconds,
       check_seq, miss_count, first_miss_at, last_miss_at, conclusive_at, conclusive_ours, ours_at, current_ns,
       last_check_id, last_outcome, last_manual_ns_check_at
     from domains order by id`,
  `alter table domain_checks add constraint domain_checks_domain
     foreign key (domain_id, account_id) references domains (id, account_id) on update cascade on delete cascade`,
  `create index domain_checks_due on domain_checks (parent, due_at) where due_at is not null`,
  `create index domain_checks_list_account on domain_checks (account_id, (coalesce(next_at, 'infinity')), domain_id)
     where not deleted`,
  `create index domain_checks_list_all on domain_checks ((coalesce(next_at, 'infinity')), domain_id) where not deleted`,

  // A row for each domain in external mode, and none for others.
  `create table domain_verifications (
     domain_id bigint primary key references domains on delete cascade,
     value text not null,
     started_at timestamptz not null,
     expires_at timestamptz not null,
     verified_at timestamptz,
     due_at timestamptz,
     next_at timestamptz,
     attempts integer not null default 0 check (attempts >= 0),
     seq bigint not null default 0
   ) with (fillfactor = 80)`,
  // A domain that never had a value gets one that has expired: its owner asks for a fresh one.
  `insert into domain_verifications (domain_id, value, started_at, expires_at, verified_at, due_at, next_at, attempts, seq)
     select id, coalesce(verification_value, 'svc-verify=' || replace(gen_random_uuid()::text, '-', '')),
       coalesce(verification_started_at, created_at), coalesce(verification_expires_at, clock_timestamp()), verified_at,
       txt_due_at, txt_next_at, txt_attempts, txt_seq
     from domains where dns_mode = 'external' order by id`,
  `create index domain_verifications_due on domain_verifications (due_at) where due_at is not null`,

  `drop index domains_due, domains_txt_due, domains_list_account_3, domains_list_all_2`,
  `alter table domains
     drop column check_parent, drop column due_at, drop column next_check_at, drop column ns_check_interval_seconds,
     drop column check_seq, drop column miss_count, drop column first_miss_at, drop column last_miss_at,
     drop column conclusive_at, drop column conclusive_ours, drop column ours_at, drop column current_ns,
     drop column last_check_id, drop column last_outcome, drop column last_manual_ns_check_at,
     drop column verification_value, drop column verification_started_at, drop column verification_expires_at,
     drop column verified_at, drop column txt_due_at, drop column txt_next_at, drop column txt_attempts,
     drop column txt_seq`,
  `analyze domain_checks, domain_verifications`,
];
