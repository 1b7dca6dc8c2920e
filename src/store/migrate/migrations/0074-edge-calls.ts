// Time of the newest call of any kind by an edge. `seen_at` is the time of its newest health report, which alone keeps it published.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table edges add column called_at timestamptz`.execute(db);
}
