// What a node reports of its answers, counted by zone, until workers take it. The statement needs nothing but the right to insert.

import { type Name, printName } from '../../dns/name.ts';
import type { Connection } from '../postgres/connection.ts';

/** At most 4,096 counts and 512 names, as the table demands. */
export interface DnsCountsReport {
  readonly node: string;
  /** Of the process. */
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
