// The records at a signed zone's apex that follow from its keys: DNSKEY, and CDS and CDNSKEY while the parent is asked for DS.

import { DIGEST, dsDigest } from '../../dns/dnssec/ds-digest.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isMade } from '../../zone/signing/signed-types.ts';
import { EDGE_MARK_TYPE, isMark, type ZoneRecord } from '../../zone/zone.ts';
import type { SignedZone, StoredKey } from './signed-zone.ts';

const KEY_TTL_SECONDS = 3600;
/** `0 0 0 00` and `0 3 0 AA==`: the parent is asked to remove its DS (RFC 8078 §4). */
const CDS_DELETE = Uint8Array.from([0, 0, 0, 0, 0]);
const CDNSKEY_DELETE = Uint8Array.from([0, 0, 3, 0, 0]);

const TYPES: ReadonlySet<number> = new Set([TYPE.DNSKEY, TYPE.CDS, TYPE.CDNSKEY]);

function isApexKeyType(type: number): boolean {
  return TYPES.has(type);
}

function apexKeyRecords(apex: Name, { keys, cdsDelete }: SignedZone): ZoneRecord[] {
  const record = (type: number, rdata: Uint8Array) => ({ owner: apex, type, ttl: KEY_TTL_SECONDS, rdata });
  const shown = keys.filter(({ inCds }) => inCds);
  const signals = cdsDelete
    ? [record(TYPE.CDS, CDS_DELETE), record(TYPE.CDNSKEY, CDNSKEY_DELETE)]
    : shown.flatMap((key) => [
        record(TYPE.CDS, dsOf(apex, key, DIGEST.SHA256)), // RFC 8624 §3.3
        record(TYPE.CDNSKEY, key.dnskey),
      ]);
  const published = keys.filter(({ isPublished }) => isPublished);
  return [...published.map(({ dnskey }) => record(TYPE.DNSKEY, dnskey)), ...signals];
}

/** Whether a record is one that only the signer of a zone makes. */
export function isOfSigner(apex: Name, { owner, type, rdata }: ZoneRecord): boolean {
  return (
    isMade(type) || (type === EDGE_MARK_TYPE && rdata.length > 0) || (owner === apex && isApexKeyType(type))
  );
}

/** With the records of the keys at the apex: nobody else writes them there. */
export function withApexKeys(
  apex: Name,
  signed: SignedZone,
  wanted: ReadonlyMap<Name, readonly ZoneRecord[]>,
): ReadonlyMap<Name, readonly ZoneRecord[]> {
  const others = (wanted.get(apex) ?? []).filter(({ type }) => !isApexKeyType(type));
  // CDS of a name that is not proved would hand its DS to whoever has claimed it
  const isUnproven = others.some(isMark);
  const shown = isUnproven ? withoutSignals(signed) : signed;
  return new Map([...wanted, [apex, [...others, ...apexKeyRecords(apex, shown)]]]);
}

function withoutSignals(signed: SignedZone): SignedZone {
  return { ...signed, cdsDelete: false, keys: signed.keys.map((key) => ({ ...key, inCds: false })) };
}

/** Rdata of the DS record of a key (RFC 4034 §5.1). */
export function dsOf(
  apex: Name,
  { tag, dnskey }: Pick<StoredKey, 'tag' | 'dnskey'>,
  digestType: number,
): Uint8Array {
  const digest = dsDigest(apex, dnskey, digestType) as Uint8Array; // the types that we make are known
  return Uint8Array.from([tag >> 8, tag & 0xff, dnskey[3] as number, digestType, ...digest]);
}
