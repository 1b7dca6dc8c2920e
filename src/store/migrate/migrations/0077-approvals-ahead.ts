// Approvals that an operator gives before the first check of a domain.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table domains add column approved_ahead boolean not null default false`.execute(db);
}
