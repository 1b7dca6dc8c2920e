// When an edge called last, whatever it asked for. `seen_at` is its newest report of health, which alone keeps it published.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table edges add column called_at timestamptz`.execute(db);
}
