// Verifies the digest of a whole zone (ZONEMD, RFC 8976): scheme SIMPLE with SHA-384 or SHA-512. The digest detects errors
// and changes in transit. Without DNSSEC, it does not prove who made the zone.

import { createHash } from 'node:crypto';
import type { MessageRecord } from '../message/message.ts';
import { encodeName, foldCase, type Name, printName } from '../name.ts';
import { coveredType } from '../record/covered-type.ts';
import { encodeNumber } from '../record/fields.ts';
import { ZONEMD } from '../record/types/dnssec.ts';
import { SOA } from '../record/types/zone.ts';
import { WireReader } from '../record/wire-reader.ts';
import { CLASS, TYPE } from '../type-codes.ts';
import { canonicalRdata } from './canonical-rdata.ts';
import { sortNames } from './sort-names.ts';

export type ZonemdResult =
  | { readonly kind: 'absent' | 'valid' }
  /** Every digest has a scheme or hash that is not supported. */
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'invalid'; readonly message: string };

type DigestedRecord = Omit<MessageRecord, 'class'>;

const SIMPLE = 1; // RFC 8976 §2.2.2
/** RFC 8976 §2.2.3. */
const HASHES: ReadonlyMap<number, string> = new Map([
  [1, 'sha384'],
  [2, 'sha512'],
]);

/** Mask that is 0 for one in 1024 names. */
const NAMES_A_STEP = 1023;

/**
 * Verifies the digests at the apex (RFC 8976 §4). One that matches is sufficient. The records are well formed, within the
 * zone, and have one SOA; duplicates are ignored.
 */
export function* verifyZonemd(
  apex: Name,
  records: Iterable<DigestedRecord>,
): Generator<undefined, ZonemdResult> {
  const owners = new Map<Name, DigestedRecord[]>();
  for (const record of records) {
    const owner = foldCase(record.owner);
    const ofOwner = owners.get(owner);
    if (ofOwner === undefined) owners.set(owner, [record]);
    else ofOwner.push(record);
  }
  const atApex = owners.get(apex) ?? [];
  const digests = atApex
    .filter(({ type }) => type === TYPE.ZONEMD)
    .map(({ rdata }) => ZONEMD.decode(new WireReader(rdata)));
  if (digests.length === 0) return { kind: 'absent' };
  const supported = digests.filter(
    ({ scheme, hashAlgorithm }) => scheme === SIMPLE && HASHES.has(hashAlgorithm),
  );
  if (supported.length === 0) return { kind: 'unsupported' };
  const invalid = (what: string): ZonemdResult => ({
    kind: 'invalid',
    message: `the ZONEMD of ${printName(apex)} ${what}`,
  });
  const soa = atApex.find(({ type }) => type === TYPE.SOA);
  const serial = soa === undefined ? undefined : SOA.decode(new WireReader(soa.rdata)).serial;
  const current = supported.filter((one) => one.serial === serial);
  if (current.length === 0) return invalid(`is for the serial ${supported[0]?.serial}, not for ${serial}`);
  const usable = current.filter(
    ({ hashAlgorithm }) => supported.filter((one) => one.hashAlgorithm === hashAlgorithm).length === 1,
  );
  if (usable.length === 0) return invalid('has several digests with one hash algorithm');
  const hashes = usable.map(({ hashAlgorithm, digest }) => {
    return { digest, hash: createHash(HASHES.get(hashAlgorithm) as string) };
  });
  let count = 0;
  for (const owner of sortNames(owners.keys())) {
    if ((++count & NAMES_A_STEP) === 0) yield;
    const digested = (owners.get(owner) as DigestedRecord[]).filter(
      (record) => owner !== apex || !isLeftOut(record),
    );
    const octets = canonicalRecords(owner, digested);
    for (const { hash } of hashes) hash.update(octets);
  }
  const matches = hashes.some(({ digest, hash }) => Buffer.compare(digest, hash.digest()) === 0);
  return matches ? { kind: 'valid' } : invalid('does not match the records of the zone');
}

/** The digests at the apex and their signatures are not digested (RFC 8976 §3.3.1.1). */
function isLeftOut({ type, rdata }: DigestedRecord): boolean {
  return type === TYPE.ZONEMD || (type === TYPE.RRSIG && coveredType(rdata) === TYPE.ZONEMD);
}

/** Returns the records of one owner in canonical form and order, without duplicates (RFC 4034 §6, RFC 8976 §3.3.1). */
function canonicalRecords(owner: Name, records: readonly DigestedRecord[]): Uint8Array {
  const name = encodeName(owner);
  const sorted = records
    .map(({ type, ttl, rdata }) => ({ type, ttl, rdata: canonicalRdata(type, rdata) }))
    .sort((a, b) => a.type - b.type || Buffer.compare(a.rdata, b.rdata));
  const parts: Uint8Array[] = [];
  for (const [i, { type, ttl, rdata }] of sorted.entries()) {
    const last = sorted[i - 1];
    if (last?.type === type && Buffer.compare(last.rdata, rdata) === 0) continue;
    parts.push(name, encodeNumber(type, 2), encodeNumber(CLASS.IN, 2), encodeNumber(ttl, 4));
    parts.push(encodeNumber(rdata.length, 2), rdata);
  }
  return Buffer.concat(parts);
}
