// The names of zones with NSEC3, to be found from their last label: hashes do not tell what lies below a name. Zones without
// NSEC3 have no rows here.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The owner as stored, its characters in reverse order.
  `create table hashed_names (
     zone_id bigint not null references zones on delete cascade,
     reversed text collate "C" not null,
     primary key (zone_id, reversed)
   )`,
  `insert into hashed_names (zone_id, reversed)
   select distinct r.zone_id, reverse(r.owner)
   from signed_zones s left join domains d on d.id = s.domain_id
     join zones z on z.id = d.zone_id or (z.name = s.zone_name and z.kind = 'operator')
     join zone_records r on r.zone_id = z.id
   where s.denial = 'nsec3' and not s.verbatim and not r.removed and r.type not in (46, 47, 50)`,
];
