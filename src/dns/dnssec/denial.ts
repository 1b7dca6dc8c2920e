// One NSEC or NSEC3 record: the name or hash that it matches, and the range in which it denies all others (RFC 4034 §4,
// RFC 5155 §3).

import { TextError } from '../errors.ts';
import { compareNames, foldCase, type Name, parentOf } from '../name.ts';
import { parseBase32Hex } from '../record/base-encodings.ts';
import { NSEC, NSEC3 } from '../record/types/dnssec.ts';
import { WireReader } from '../record/wire-reader.ts';
import { NSEC3_SHA1 } from './nsec3-hash.ts';

export interface Nsec {
  /** Names are folded. */
  readonly owner: Name;
  readonly next: Name;
  readonly types: ReadonlySet<number>;
}

export interface Nsec3 {
  readonly owner: Name;
  readonly hash: Uint8Array;
  readonly next: Uint8Array;
  readonly types: ReadonlySet<number>;
  readonly optOut: boolean;
  readonly iterations: number;
  readonly salt: Uint8Array;
}

const SHA1_OCTETS = 20;
const OPT_OUT = 1;

/** @param owner folded */
export function readNsec(owner: Name, rdata: Uint8Array): Nsec {
  const { nextName, types } = NSEC.decode(new WireReader(rdata));
  return { owner, next: foldCase(nextName), types: new Set(types) };
}

/**
 * Returns undefined for a record that must be ignored: unknown hash algorithm or flags, or an owner without a hash (RFC
 * 5155 §8.1, §8.2).
 */
export function readNsec3(owner: Name, rdata: Uint8Array, zone: Name): Nsec3 | undefined {
  const { hashAlgorithm, flags, iterations, salt, nextHashedName, types } = NSEC3.decode(
    new WireReader(rdata),
  );
  if (hashAlgorithm !== NSEC3_SHA1 || (flags & ~OPT_OUT) !== 0) return undefined;
  const hash = parentOf(owner) === zone ? hashIn(owner) : undefined;
  if (hash?.length !== SHA1_OCTETS || nextHashedName.length !== SHA1_OCTETS) return undefined;
  const optOut = (flags & OPT_OUT) !== 0;
  return { owner, hash, next: nextHashedName, types: new Set(types), optOut, iterations, salt };
}

/** Returns the hash in the first label of an NSEC3 owner. Returns undefined for another name. */
export function hashIn(owner: Name): Uint8Array | undefined {
  try {
    return parseBase32Hex(owner.slice(1, 1 + owner.charCodeAt(0)));
  } catch (error) {
    if (error instanceof TextError) return undefined;
    throw error;
  }
}

/** Returns true if the record denies `name`. The last record of a zone points back to the apex. */
export function coversName({ owner, next }: Nsec, name: Name): boolean {
  return isBetween(compareNames(owner, name), compareNames(name, next), compareNames(owner, next));
}

export function coversHash({ hash, next }: Nsec3, wanted: Uint8Array): boolean {
  return isBetween(Buffer.compare(hash, wanted), Buffer.compare(wanted, next), Buffer.compare(hash, next));
}

function isBetween(afterFirst: number, beforeNext: number, ends: number): boolean {
  if (ends < 0) return afterFirst < 0 && beforeNext < 0;
  // The only name of a zone: covers everything but that name (RFC 5155 §3.1.7).
  return ends === 0 ? afterFirst !== 0 : afterFirst < 0 || beforeNext < 0;
}
