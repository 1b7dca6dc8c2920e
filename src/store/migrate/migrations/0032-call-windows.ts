// The calls of the last minute, by whom they are counted for, in place of counts in fixed minutes. Unlogged: they are worth
// no wait for the disk, and after a crash of Postgres counting begins anew.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop table rate_limits`.execute(db);
  // A row is rewritten by every call: there is room for its next version on the page, and it stays in it.
  await sql`create unlogged table call_windows (
    subject text primary key,
    calls bigint[] not null,
    admitted boolean not null,
    ends_at timestamptz not null) with (fillfactor = 50)`.execute(db);
  await sql`alter table call_windows alter column calls set storage main`.execute(db);
}
