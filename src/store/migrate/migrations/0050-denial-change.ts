// A signed zone changes from NSEC to NSEC3 and back while it is served (RFC 5155 §10.4, §10.5): for a while it has both chains,
// so places are looked for among those of one kind.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The chain of the other kind than `denial`: it is being added, to take its place, or is in use no more and being removed.
  `alter table signed_zones add column denial_change text check (denial_change in ('adding', 'removing'))`,
  `create index signed_zones_denial_change on signed_zones (id) where denial_change is not null`,
  `create index zone_records_ring on zone_records (zone_id, type, place) where place is not null and not removed`,
  `drop index zone_records_place`,
];
