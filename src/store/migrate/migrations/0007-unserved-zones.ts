// Each node says which zones it does not serve in their newest content: it does not have their changes. Null: too many to
// be named.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table nodes add column unserved bigint[] default '{}'`.execute(db);
}
