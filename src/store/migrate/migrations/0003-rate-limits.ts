// How many requests each API key has made in its minute, for all API processes together. Unlogged: it is worth no wait
// for the disk, and after a crash of Postgres counting begins anew.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The shape that rate-limiter-flexible writes; `expire` in milliseconds since 1970.
  await sql`create unlogged table rate_limits (
    key text primary key,
    points integer not null,
    expire bigint not null)`.execute(db);
  await sql`create index rate_limits_expire on rate_limits (expire)`.execute(db);
}
