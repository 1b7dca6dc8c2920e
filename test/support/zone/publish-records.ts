// Returns all records that a domain publishes, name by name, except its managed SOA and NS; production publishes single
// names.

import type { Name } from '../../../src/dns/name.ts';
import { type FlattenedTarget, publishName } from '../../../src/zone/publish/publish.ts';
import type { CustomerRecord, EdgeAddresses } from '../../../src/zone/records/customer-record.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';

export function publishRecords(
  records: readonly CustomerRecord[],
  edges: EdgeAddresses,
  flattened: ReadonlyMap<Name, FlattenedTarget> = new Map(),
): ZoneRecord[] {
  const names = new Map<Name, CustomerRecord[]>();
  for (const record of records) {
    const list = names.get(record.name);
    if (list === undefined) names.set(record.name, [record]);
    else list.push(record);
  }
  return [...names].flatMap(([name, list]) => publishName(list, edges, flattened.get(name)));
}
