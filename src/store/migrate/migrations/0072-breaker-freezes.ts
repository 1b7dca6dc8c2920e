// Operators hold moves back by hand: such a trip says who froze them and why.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // ended_at of a freeze is when it will end, from the beginning: so workers of a version before, which end every open trip
  // whose condition is over, leave it alone. frozen_until: what was asked for; null: until somebody releases it.
  `alter table breaker_trips
     add column frozen_by text,
     add column reason text,
     add column frozen_until timestamptz,
     add constraint breaker_trips_freeze check (
       case when frozen_by is null then reason is null and frozen_until is null
       else reason is not null and ended_at is not null end)`,
  `create index breaker_trips_freezes on breaker_trips (ended_at) where frozen_by is not null`,
];
