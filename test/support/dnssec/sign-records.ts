// Signs the records of a zone (RFC 4035 §2): one key, and a chain of NSEC or NSEC3. What stands below a cut is left alone, and
// of the cut itself only DS and the denial are signed.

import { foldCase, type Name, parentOf } from '../../../src/dns/name.ts';
import { NSEC3PARAM } from '../../../src/dns/record/types/nsec3param.ts';
import { SOA } from '../../../src/dns/record/types/soa.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { isMark, type ZoneRecord } from '../../../src/zone/zone.ts';
import { DenialChain, type DenialStyle } from './denial-chain.ts';
import { type SigningKey, type SigningTime, signSet } from './signing.ts';

interface Signing {
  readonly key: SigningKey;
  readonly time: SigningTime;
  readonly denial: DenialStyle;
}

interface Set {
  readonly ttl: number;
  readonly rdata: Uint8Array[];
}

type Sets = Map<Name, Map<number, Set>>;

/** The records with those that sign them, marks included. The TTL of a set is the lowest of its records. */
export function signRecords(
  apex: Name,
  records: readonly ZoneRecord[],
  { key, time, denial }: Signing,
): ZoneRecord[] {
  const sets: Sets = new Map();
  for (const record of records) {
    if (isMark(record)) sets.set(record.owner, sets.get(record.owner) ?? new Map());
    else add(sets, record);
  }
  const soa = sets.get(apex)?.get(TYPE.SOA) as Set;
  const { minimum } = SOA.decode(new WireReader(soa.rdata[0] as Uint8Array));
  const negativeTtl = Math.min(soa.ttl, minimum); // RFC 9077 §3
  add(sets, { owner: apex, type: TYPE.DNSKEY, ttl: soa.ttl, rdata: key.rdata });
  if (denial.kind === 'nsec3') {
    const { iterations, salt } = denial;
    const rdata = Uint8Array.from(NSEC3PARAM.encode({ hashAlgorithm: 1, flags: 0, iterations, salt }));
    add(sets, { owner: apex, type: TYPE.NSEC3PARAM, ttl: 0, rdata });
  }
  const denials = denialRecords(apex, sets, denial, negativeTtl);
  const isCut = (name: Name) => name !== apex && sets.get(name)?.has(TYPE.NS) === true;
  for (const record of denials) add(sets, record);

  const made: ZoneRecord[] = records.filter(isMark);
  for (const [owner, types] of sets) {
    for (const [type, { ttl, rdata }] of types) {
      for (const one of rdata) made.push({ owner, type, ttl, rdata: one });
      const isOfCut = isCut(owner) && type !== TYPE.DS && type !== TYPE.NSEC; // RFC 4035 §2.2
      if (isOfCut || isBelow(apex, owner, isCut)) continue;
      const signature = signSet({ owner, type, ttl, rdata }, key, { zone: apex, time });
      made.push({ owner, type: TYPE.RRSIG, ttl, rdata: signature });
    }
  }
  return made;
}

function denialRecords(apex: Name, sets: Sets, style: DenialStyle, ttl: number): ZoneRecord[] {
  const rdataOf = (types: ReadonlyMap<number, Set>) =>
    new Map([...types].map(([type, { rdata }]) => [type, rdata]));
  const chain = new DenialChain(
    apex,
    new Map([...sets].map(([owner, types]) => [owner, rdataOf(types)])),
    style,
  );
  return chain.owners().map((owner) => ({ owner, ttl, ...chain.recordAt(owner) }));
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

function isBelow(apex: Name, owner: Name, isCut: (name: Name) => boolean): boolean {
  for (let above = owner; above !== apex; ) {
    above = parentOf(above);
    if (isCut(above)) return true;
  }
  return false;
}
