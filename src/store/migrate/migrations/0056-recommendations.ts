// Recommendations that the people of a domain dismissed.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table dismissed_recommendations (
      domain_id bigint not null references domains on delete cascade,
      code text not null,
      -- what it was about, by its SHA-256
      subject bytea not null,
      at timestamptz not null default now(),
      primary key (domain_id, code)
    )`.execute(db);
}
