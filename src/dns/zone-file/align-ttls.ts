// Gives each record set one TTL (RFC 2181 §5.2): the TTL of its first record, as in BIND and NSD. Signatures have the
// TTL of the set that they cover (RFC 4034 §3).

import type { Name } from '../name.ts';
import { coveredType } from '../record/covered-type.ts';
import { TYPE } from '../type-codes.ts';

interface TimedRecord {
  readonly owner: Name;
  readonly type: number;
  readonly rdata: Uint8Array;
  ttl: number;
}

export function alignTtls(records: readonly TimedRecord[]): void {
  const ttl = records[0]?.ttl;
  if (records.every((record) => record.ttl === ttl)) return;
  const firstTtls = new Map<number, Map<Name, number>>();
  for (const record of records) {
    if (record.type === TYPE.RRSIG) continue;
    const ofType = firstTtls.get(record.type) ?? new Map<Name, number>();
    if (ofType.size === 0) firstTtls.set(record.type, ofType);
    const first = ofType.get(record.owner);
    if (first === undefined) ofType.set(record.owner, record.ttl);
    else record.ttl = first;
  }
  for (const record of records) {
    if (record.type !== TYPE.RRSIG) continue;
    record.ttl = firstTtls.get(coveredType(record.rdata))?.get(record.owner) ?? record.ttl;
  }
}
