// A domain may pass to another account: the log of changes has that.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Without a look at every change there is: they are of the narrower list.
  `alter table domain_changes drop constraint domain_changes_operation_check,
     add constraint domain_changes_operation_check check (operation in
       ('create', 'edit', 'status', 'nameservers', 'settings', 'delete', 'restore', 'addresses', 'move')) not valid`,
];
