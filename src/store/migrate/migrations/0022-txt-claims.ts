// Adds what TXT needs beyond a first proof: the offer to a domain that waits in managed mode, the two looks by which a name
// passes to another account, and the account of each verification, since accounts take turns.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // `offered` is of domains in managed mode: their owners are shown the record. `verified_at` is there when it was last found.
  `alter table domain_verifications add column account_id bigint, add column offered boolean not null default true,
     add column takeover_seen_at timestamptz`,
  `update domain_verifications v set account_id = d.account_id from domains d where d.id = v.domain_id`,
  `alter table domain_verifications alter column account_id set not null,
     drop constraint domain_verifications_domain_id_fkey,
     add constraint domain_verifications_domain
       foreign key (domain_id, account_id) references domains (id, account_id) on update cascade on delete cascade`,
  `drop index domain_verifications_due`,
  `create index domain_verifications_due_2 on domain_verifications (account_id, due_at) where due_at is not null`,
];
