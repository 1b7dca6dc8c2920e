// What a node reports until workers take it: the answers it gave, counted by zone, and unproven zones whose names are
// queried. The statements need only the right to insert.

import { type Name, printName } from '../../dns/name.ts';
import type { Connection } from '../postgres/connection.ts';

/** As the table demands. */
const SLOTS = 4096;

/**
 * Reports unproven zones that are queried for more than their apex. The table has a slot for each remainder of an id,
 * so that no node can fill it. Returns the ids that were not stored because another zone is in their slot. Slots are
 * locked in one order, since nodes report concurrently.
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

/** At most 4,096 counts and 512 names, as the table demands. */
export interface DnsCountsReport {
  readonly node: string;
  /** Identifies the process. */
  readonly instance: string;
  /** Counts the reports of the instance. */
  readonly part: number;
  /** When the minute began that it is of. */
  readonly minuteMs: number;
  readonly zoneIds: ArrayLike<number>;
  readonly types: ArrayLike<number>;
  readonly rcodes: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
  readonly names: readonly { readonly zoneId: number; readonly name: Name; readonly count: number }[];
}

/** Does nothing when this part has arrived before. */
export async function reportDnsCounts(connection: Connection, report: DnsCountsReport): Promise<void> {
  const { node, instance, part, minuteMs, names } = report;
  await connection.query(
    `insert into dns_counts (node, instance, part, minute, zone_ids, types, rcodes, counts, name_zone_ids, names, name_counts)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing`,
    [
      node,
      instance,
      part,
      new Date(minuteMs),
      Array.from(report.zoneIds),
      Array.from(report.types),
      Array.from(report.rcodes),
      Array.from(report.counts),
      names.map(({ zoneId }) => zoneId),
      names.map(({ name }) => printName(name)),
      names.map(({ count }) => count),
    ],
  );
}
