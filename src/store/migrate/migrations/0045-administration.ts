// What global admins need: lists of accounts in the order of their emails, or of their age; and the row of a node, of
// which the API may write by its grants only what an operator confirms.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // As those of before 0030 may have no key, but every account has an email.
  `create index accounts_by_email on accounts ((lower(email) collate "C"), id)`,
  `create index accounts_by_age on accounts (created_at, id)`,
  // Few among many.
  `create index accounts_admins on accounts (created_at, id) where is_admin`,
  `create index accounts_resellers on accounts (created_at, id) where is_reseller`,
  `create index accounts_inactive on accounts (created_at, id) where not active`,
  // Besides the policy by which a node updates its own row. The role need not exist yet.
  `create policy nodes_confirm on nodes for update using (current_user = 'zonefleet_api')
     with check (current_user = 'zonefleet_api')`,
];
