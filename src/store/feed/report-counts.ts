// Reports of nodes that workers process later: counts of responses by zone, and unproven zones that received queries.
// The statements need only the right to insert.

import { type Name, printName } from '../../dns/name.ts';
import type { Connection } from '../postgres/connection.ts';

/** Limit of the table. */
const SLOTS = 4096;

/**
 * Reports unproven zones that received queries for more than their apex. A zone's slot is its id modulo the number of
 * slots, so that no node can fill the table. Returns the ids that were not stored because another zone has their slot.
 * Slots are locked in order, because nodes report concurrently.
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

/** At most 4,096 counts and 512 names, which the table enforces. */
export interface DnsCountsReport {
  readonly node: string;
  /** Identifies the process. */
  readonly instance: string;
  /** Sequence number of the report within the instance. */
  readonly part: number;
  /** Start of the minute that the report covers. */
  readonly minuteMs: number;
  readonly zoneIds: ArrayLike<number>;
  readonly types: ArrayLike<number>;
  readonly rcodes: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
  readonly names: readonly { readonly zoneId: number; readonly name: Name; readonly count: number }[];
}

/** Does nothing if this part was already received. */
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
