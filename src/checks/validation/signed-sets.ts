// Groups the records of a section of a reply into sets with their signatures, for validation.

import { type RecordSet, readSignature, type Signature } from '../../dns/dnssec/signed-octets.ts';
import type { MessageRecord } from '../../dns/message/message.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';

export interface SignedSet extends RecordSet {
  readonly signatures: readonly Signature[];
  /** Lowest TTL of the received records, in seconds. */
  readonly ttl: number;
}

/** Returns the set at a name, or undefined if there is none. `owner` is folded. */
export function setAt(section: readonly MessageRecord[], owner: Name, type: number): SignedSet | undefined {
  const isHere = (record: MessageRecord, wanted: number) =>
    record.type === wanted &&
    record.class === CLASS.IN &&
    record.rdata.length > 0 &&
    foldCase(record.owner) === owner;
  const records = section.filter((record) => isHere(record, type));
  if (records.length === 0) return undefined;
  const signatures = section
    .filter((record) => isHere(record, TYPE.RRSIG))
    .map(({ rdata }) => readSignature(rdata))
    .filter(({ typeCovered }) => typeCovered === type);
  return {
    owner,
    type,
    rdata: records.map(({ rdata }) => rdata),
    signatures,
    ttl: records.reduce((lowest, { ttl }) => Math.min(lowest, ttl), records[0]?.ttl ?? 0),
  };
}

/** Returns the folded owner names of records of a type. */
export function ownersOf(section: readonly MessageRecord[], type: number): Set<Name> {
  const owners = new Set<Name>();
  for (const record of section) {
    if (record.type === type && record.class === CLASS.IN && record.rdata.length > 0)
      owners.add(foldCase(record.owner));
  }
  return owners;
}
