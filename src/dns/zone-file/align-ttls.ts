// A record set has one TTL (RFC 2181 §5.2). As in BIND and NSD, that is its first record's.

import type { Name } from '../name.ts';

export function alignTtls(records: readonly { owner: Name; type: number; ttl: number }[]): void {
  const ttl = records[0]?.ttl;
  if (records.every((record) => record.ttl === ttl)) return;
  const firstTtls = new Map<number, Map<Name, number>>();
  for (const record of records) {
    const ofType = firstTtls.get(record.type) ?? new Map<Name, number>();
    if (ofType.size === 0) firstTtls.set(record.type, ofType);
    const first = ofType.get(record.owner);
    if (first === undefined) ofType.set(record.owner, record.ttl);
    else record.ttl = first;
  }
}
