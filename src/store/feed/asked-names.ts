// What nodes report of unproven zones that are asked for more than their apex, until workers take it. The table has a slot for
// each remainder of an id, so that no node can fill it, whatever it reports.

import type { Connection } from '../postgres/connection.ts';

/** As the table demands. */
const SLOTS = 4096;

/**
 * Reports zones by id; gives those that found no room, since another zone is in their slot. Two nodes may report at once: the
 * slots are taken in one order.
 */
export async function reportAskedZones(
  connection: Connection,
  zoneIds: readonly number[],
): Promise<number[]> {
  const rows = await connection.query(
    `with reported as materialized (select id, id % ${SLOTS} as slot from unnest($1::bigint[]) as r(id)),
     put as (
       insert into asked_names (slot, zone_id) select slot, id from reported order by slot
       on conflict (slot) do nothing returning zone_id)
     select id from reported r
     where not exists (select from put where zone_id = r.id)
       and not exists (select from asked_names a where a.slot = r.slot and a.zone_id = r.id)`,
    [zoneIds],
  );
  return rows.map(([id]) => id as number);
}
