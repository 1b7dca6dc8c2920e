// Finds doubtful properties of a zone that another operator signed, before it is served unchanged. Never refuses a
// zone: the operator who loads it can fix it, and validators check it themselves.

import { readNsec3 } from '../../dns/dnssec/denial.ts';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { secondsBetween } from '../../dns/dnssec/signature-time.ts';
import { readSignature } from '../../dns/dnssec/signed-octets.ts';
import { isKnownAlgorithm } from '../../dns/dnssec/verify-signature.ts';
import { printName } from '../../dns/name.ts';
import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { recordsOfZone } from '../records-of-zone.ts';
import { findFaults } from '../signing/check-signed.ts';
import type { RecordSet, Zone, ZoneRecord } from '../zone.ts';
import { DoubtList, type SignedZoneDoubt } from './doubt-list.ts';

interface Judging {
  /** Seconds since 1970. */
  readonly at: number;
  /** RRSIG records that are left out because the covered set does not exist. */
  readonly stray: readonly RecordSet[];
  /** Maximum number of sets to verify; each signature takes up to 0.2 ms. */
  readonly maxVerified: number;
}

/** Signatures that expire sooner are reported, so that the operator has this long to sign again. */
const SOON_SECONDS = 7 * 86_400;

/** Returns an empty list for a zone without DNSSEC records. */
export function judgeSignedZone(zone: Zone, judging: Judging): SignedZoneDoubt[] {
  const doubts = new DoubtList();
  for (const set of judging.stray) doubtStray(set, doubts);
  if (zone.denials === undefined) {
    const why = `the SOA of ${printName(zone.apex)} has no signature, so the zone is answered as unsigned`;
    if (hasSignersRecords(zone)) doubts.add('SOA_NOT_SIGNED', zone.apex, why, TYPE.SOA);
    return doubts.list;
  }
  const records = [...recordsOfZone(zone)];
  doubtKeys(zone, records, doubts);
  doubtTimes(records, judging.at, doubts);
  doubtChains(zone, doubts);
  doubtFaults(zone, records, judging, doubts);
  return doubts.list;
}

/** Types that only signers create. */
const MADE: ReadonlySet<number> = new Set([TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM, TYPE.DNSKEY]);

function hasSignersRecords(zone: Zone): boolean {
  for (const { type } of recordsOfZone(zone)) if (MADE.has(type)) return true;
  return false;
}

function doubtStray({ owner, rdata }: RecordSet, doubts: DoubtList): void {
  const covered = typeMnemonic(coveredType(rdata[0] as Uint8Array));
  const what = `${printName(owner)} RRSIG covers ${covered}, which does not exist: left out`;
  doubts.add('STRAY_SIGNATURE', owner, what, TYPE.RRSIG);
}

function doubtKeys({ apex, nodes }: Zone, records: readonly ZoneRecord[], doubts: DoubtList): void {
  const keys = nodes.get(apex)?.sets.get(TYPE.DNSKEY)?.rdata ?? [];
  const signers = new Set<string>();
  for (const { type, rdata } of records) {
    if (type !== TYPE.RRSIG) continue;
    const signature = readSignature(rdata);
    signers.add(`${signature.keyTag} ${signature.algorithm}`);
  }
  for (const key of keys) {
    const tag = keyTag(key);
    if (signers.has(`${tag} ${key[3]}`)) continue;
    doubts.add('IDLE_KEY', apex, `${printName(apex)} DNSKEY ${tag} has not signed anything`, TYPE.DNSKEY);
  }
}

function doubtTimes(records: readonly ZoneRecord[], at: number, doubts: DoubtList): void {
  for (const { owner, type, rdata } of records) {
    if (type !== TYPE.RRSIG) continue;
    const { expiration, typeCovered } = readSignature(rdata);
    const left = secondsBetween(at, expiration);
    if (left < 0 || left >= SOON_SECONDS) continue;
    const hours = Math.floor(left / 3600);
    const what = `${printName(owner)} ${typeMnemonic(typeCovered)}: a signature expires in ${hours} hours`;
    doubts.add('EXPIRES_SOON', owner, what, TYPE.RRSIG);
  }
}

function doubtChains({ apex, nodes, denials, idleDenials = [] }: Zone, doubts: DoubtList): void {
  for (const { owner } of idleDenials) {
    const what = `${printName(owner)} NSEC3 does not belong to the chain of an NSEC3PARAM with flags 0: it proves nothing`;
    doubts.add('IDLE_NSEC3', owner, what, TYPE.NSEC3);
  }
  if (denials?.kind !== 'nsec3') return;
  const optsOut = ({ owner, rdata }: RecordSet) =>
    rdata.some((octets) => readNsec3(owner, octets, apex)?.optOut === true);
  if (!denials.entries.some(({ set }) => optsOut(set))) return;
  for (const { name, sets } of nodes.values()) {
    if (name === apex || !sets.has(TYPE.NS) || sets.has(TYPE.DS)) continue;
    const what = `${printName(name)} NS has no DS and may be under opt-out: others can forge such a delegation`; // RFC 5155 §12.2
    doubts.add('OPT_OUT', name, what, TYPE.NS);
  }
}

function doubtFaults(
  zone: Zone,
  records: readonly ZoneRecord[],
  { at, maxVerified }: Judging,
  doubts: DoubtList,
): void {
  const { apex, nodes } = zone;
  const algorithms = new Set(
    nodes
      .get(apex)
      ?.sets.get(TYPE.DNSKEY)
      ?.rdata.map((rdata) => rdata[3] as number),
  );
  const isVerifiable = [...algorithms].some(isKnownAlgorithm);
  if (algorithms.size > 0 && !isVerifiable) {
    const which = [...algorithms].join(' and ');
    const what = `${printName(apex)} is signed with algorithm ${which} only: signatures are not verified`;
    doubts.add('UNKNOWN_ALGORITHM', apex, what, TYPE.DNSKEY);
  }
  let steps = 0;
  for (const fault of findFaults(apex, records, at)) {
    if (++steps > maxVerified) {
      const what = `${printName(apex)} is large: only the first ${maxVerified} sets were verified`;
      doubts.add('NOT_ALL_VERIFIED', apex, what);
      return;
    }
    if (fault === undefined || fault.code === 'DENIAL_TTL') continue; // signers before RFC 9077 used the MINIMUM
    if (fault.code === 'BAD_SIGNATURE' && !isVerifiable) continue;
    doubts.add(fault.code, fault.name, fault.text);
  }
}
