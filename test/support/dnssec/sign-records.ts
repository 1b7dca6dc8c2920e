// Signs the records of a zone (RFC 4035 §2), with a chain of NSEC or NSEC3. Records below a cut are not signed, and at
// the cut itself only DS and the denial are.

import { foldCase, type Name } from '../../../src/dns/name.ts';
import { NSEC3PARAM } from '../../../src/dns/record/types/dnssec.ts';
import { SOA } from '../../../src/dns/record/types/zone.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { isMark, type ZoneRecord } from '../../../src/zone/zone.ts';
import { type DenialStyle, denialRecords, namesAbove } from './denial-chain.ts';
import { type SigningKey, type SigningTime, signSet } from './signing.ts';

export interface SigningKeys {
  /** Keys that sign the DNSKEY set, and everything if there are no others. */
  readonly entry: readonly SigningKey[];
  readonly others: readonly SigningKey[];
  /** DNSKEY records of keys that sign nothing. */
  readonly idle?: readonly Uint8Array[];
}

interface Signing {
  readonly time: SigningTime;
  readonly denial: DenialStyle;
}

interface Set {
  readonly ttl: number;
  readonly rdata: Uint8Array[];
}

type Sets = Map<Name, Map<number, Set>>;

/** Returns the records, including marks, with their signatures and denials. The TTL of a set is the lowest of its records. */
export function signRecords(
  apex: Name,
  records: readonly ZoneRecord[],
  { time, denial, ...by }: Signing & ({ readonly key: SigningKey } | { readonly keys: SigningKeys }),
): ZoneRecord[] {
  const keys: SigningKeys = 'keys' in by ? by.keys : { entry: [by.key], others: [] };
  const { entry, others, idle = [] } = keys;
  const sets: Sets = new Map();
  for (const record of records) {
    if (isMark(record)) sets.set(record.owner, sets.get(record.owner) ?? new Map());
    else add(sets, record);
  }
  const soa = sets.get(apex)?.get(TYPE.SOA) as Set;
  const { minimum } = SOA.decode(new WireReader(soa.rdata[0] as Uint8Array));
  const negativeTtl = Math.min(soa.ttl, minimum); // RFC 9077 §3
  for (const rdata of [...entry, ...others].map((key) => key.rdata).concat(idle))
    add(sets, { owner: apex, type: TYPE.DNSKEY, ttl: soa.ttl, rdata });
  if (denial.kind === 'nsec3') {
    const { iterations, salt } = denial;
    const rdata = Uint8Array.from(NSEC3PARAM.encode({ hashAlgorithm: 1, flags: 0, iterations, salt }));
    add(sets, { owner: apex, type: TYPE.NSEC3PARAM, ttl: 0, rdata });
  }
  const isCut = (name: Name) => name !== apex && sets.get(name)?.has(TYPE.NS) === true;
  for (const record of denialRecords(apex, sets, denial)) add(sets, { ...record, ttl: negativeTtl });

  const made: ZoneRecord[] = records.filter(isMark);
  for (const [owner, types] of sets) {
    for (const [type, { ttl, rdata }] of types) {
      for (const one of rdata) made.push({ owner, type, ttl, rdata: one });
      const isOfCut = isCut(owner) && type !== TYPE.DS && type !== TYPE.NSEC; // RFC 4035 §2.2
      if (isOfCut || namesAbove(owner, apex).some(isCut)) continue;
      for (const key of type === TYPE.DNSKEY || others.length === 0 ? entry : others) {
        const signature = signSet({ owner, type, ttl, rdata }, key, { zone: apex, time });
        made.push({ owner, type: TYPE.RRSIG, ttl, rdata: signature });
      }
    }
  }
  return made;
}

function add(sets: Sets, { owner, type, ttl, rdata }: ZoneRecord): void {
  const at = foldCase(owner);
  const types = sets.get(at) ?? new Map<number, Set>();
  const before = types.get(type);
  const isThere = before?.rdata.some((one) => Buffer.compare(one, rdata) === 0) === true;
  const all = isThere ? before.rdata : [...(before?.rdata ?? []), rdata];
  types.set(type, { ttl: Math.min(ttl, before?.ttl ?? ttl), rdata: all });
  sets.set(at, types);
}
