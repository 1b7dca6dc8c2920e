// The names of ours that parents showed, by name (docs/rules.md "Sightings"). They are kept two years: a shared set that was seen
// at a name before a claim was made proves nothing for it.

import { sql } from 'kysely';
import type { Sighting } from '../../checks/claims/sightings.ts';
import type { Database } from '../postgres/database.ts';

/** Selects the sightings of the names of domains `d`, as JSON. */
export const SIGHTINGS_OF_NAME = sql`(select coalesce(json_agg(json_build_object('names', s.names,
    'lastSeenAt', extract(epoch from s.last_seen_at) * 1000)), '[]')
  from ns_sightings s where s.name = d.name)`;

export async function loadSightings(db: Database, nameText: string): Promise<readonly Sighting[]> {
  const { rows } = await sql<{ names: string[]; lastSeenAt: Date }>`
    select names, last_seen_at as "lastSeenAt" from ns_sightings where name = ${nameText}`.execute(db);
  return rows.map(({ names, lastSeenAt }) => ({ names, lastSeenAt: lastSeenAt.getTime() }));
}

export async function saveSighting(
  trx: Database,
  nameText: string,
  names: readonly string[],
  at: Date,
): Promise<void> {
  await sql`
    insert into ns_sightings as s (name, names, first_seen_at, last_seen_at)
    values (${nameText}, ${names}::text[], ${at}, ${at})
    on conflict (name, names) do update set last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at)`.execute(
    trx,
  );
}
