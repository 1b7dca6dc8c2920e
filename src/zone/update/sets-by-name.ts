// The record sets that an update tests and changes, by name and type.

import { canonicalRdata } from '../../dns/dnssec/canonical-rdata.ts';
import type { UpdateRecord } from '../../dns/message/update.ts';
import type { Name } from '../../dns/name.ts';
import { EDGE_MARK_TYPE, isMark, type RecordSet, type ZoneRecord } from '../zone.ts';

/** Contains no empty sets. Names without an entry have no records. */
export type SetsByName = ReadonlyMap<Name, ReadonlyMap<number, RecordSet>>;

/** Groups records without duplicates. Omits marker rows. Owners must be folded. */
export function setsByName(records: Iterable<ZoneRecord>): SetsByName {
  const names = new Map<Name, Map<number, RecordSet & { readonly rdata: Uint8Array[] }>>();
  for (const { owner, type, ttl, rdata } of records) {
    if (isMark({ type }) || type === EDGE_MARK_TYPE) continue;
    const sets = names.get(owner) ?? new Map();
    names.set(owner, sets);
    const set = sets.get(type);
    if (set === undefined) sets.set(type, { owner, type, ttl, rdata: [rdata] });
    else set.rdata.push(rdata);
  }
  return names;
}

/** Returns the owners of an update's records, whose sets must be known. */
export function ownersOf({
  prerequisites,
  updates,
}: {
  readonly prerequisites: readonly UpdateRecord[];
  readonly updates: readonly UpdateRecord[];
}): Name[] {
  return [...new Set([...prerequisites, ...updates].map(({ owner }) => owner))];
}

/** Identifies a record in its set. Names in rdata are compared without regard to case (RFC 2136 §1.1.1, RFC 4343). */
export function recordKey(type: number, rdata: Uint8Array): string {
  return Buffer.from(canonicalRdata(type, rdata)).toString('latin1');
}
