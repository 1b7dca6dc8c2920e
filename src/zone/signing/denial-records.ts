// NSEC and NSEC3 records as links of a ring: the position of each, the position that it points to, and its records.

import { canonicalKey } from '../../dns/dnssec/canonical-key.ts';
import { hashIn, readNsec, readNsec3 } from '../../dns/dnssec/denial.ts';
import { NSEC3_SHA1, nsec3Hash } from '../../dns/dnssec/nsec3-hash.ts';
import { encodeName, MAX_NAME_OCTETS, type Name, prependLabel } from '../../dns/name.ts';
import { printBase32Hex } from '../../dns/record/base-encodings.ts';
import { NSEC, NSEC3, NSEC3PARAM } from '../../dns/record/types/dnssec.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordSet, ZoneRecord } from '../zone.ts';
import type { DenialKind } from './signed-types.ts';

/** An existing link. `nextName` is set only for NSEC. */
export interface Link {
  readonly place: string;
  readonly nextPlace: string;
  readonly nextName?: Name;
  readonly types: ReadonlySet<number>;
}

const NO_SALT = new Uint8Array();
/** One iteration of SHA-1, without salt and without opt-out (RFC 9276 §3.1). */
const PARAMETERS = { hashAlgorithm: NSEC3_SHA1, flags: 0, iterations: 0, salt: NO_SALT };

/** Rdata of the NSEC3PARAM record, which declares the chain complete (RFC 5155 §4). */
export const NSEC3_PARAMETERS: Uint8Array = Uint8Array.from(NSEC3PARAM.encode(PARAMETERS));

export function denialType(kind: DenialKind): number {
  return kind === 'nsec' ? TYPE.NSEC : TYPE.NSEC3;
}

/** Returns the position of a name's denial in the ring. Positions sort like their octets. */
export function placeOf(name: Name, apex: Name, kind: DenialKind): string {
  if (kind === 'nsec') return canonicalKey(name, apex);
  return textOf(nsec3Hash(name, NO_SALT, 0));
}

/**
 * Returns the position of a stored NSEC or NSEC3 record in the order of its kind. Returns undefined for other records,
 * and for an owner that is not a hash.
 */
export function placeOfRecord(
  { owner, type }: Pick<ZoneRecord, 'owner' | 'type'>,
  apex: Name,
): string | undefined {
  if (type === TYPE.NSEC) return canonicalKey(owner, apex);
  if (type !== TYPE.NSEC3 || owner === apex) return undefined;
  const hash = hashIn(owner);
  return hash === undefined ? undefined : textOf(hash);
}

/** A hash takes 32 octets as a label, and one for its length (RFC 5155 §3). */
const HASH_LABEL_OCTETS = 33;

/** Returns true if names below this apex can have NSEC3. */
export function hasRoomForHashes(apex: Name): boolean {
  return encodeName(apex).length + HASH_LABEL_OCTETS <= MAX_NAME_OCTETS;
}

/** Returns the owner of the denial at a position; `name` is the denial's name. */
export function denialOwner(place: string, name: Name, apex: Name, kind: DenialKind): Name {
  if (kind === 'nsec') return name;
  const label = printBase32Hex(Buffer.from(place, 'latin1')).toLowerCase();
  const owner = prependLabel(label, apex);
  if (owner === undefined) throw new RangeError('the apex is too long for hashes below it'); // RFC 5155 §3
  return owner;
}

export function readLink({ owner, rdata }: RecordSet, apex: Name, kind: DenialKind): Link | undefined {
  if (kind === 'nsec3') return readNsec3Link(owner, rdata, apex);
  const { next, types } = readNsec(owner, rdata[0] as Uint8Array);
  const place = canonicalKey(owner, apex);
  return { place, nextPlace: canonicalKey(next, apex), nextName: next, types };
}

/** Returns undefined for a record of a chain with other parameters. */
function readNsec3Link(owner: Name, rdata: readonly Uint8Array[], apex: Name): Link | undefined {
  for (const octets of rdata) {
    const read = readNsec3(owner, octets, apex);
    if (read === undefined || read.optOut || read.iterations > 0 || read.salt.length > 0) continue;
    const [place, nextPlace] = [textOf(read.hash), textOf(read.next)];
    return { place, nextPlace, types: read.types };
  }
  return undefined;
}

function textOf(octets: Uint8Array): string {
  return Buffer.from(octets).toString('latin1');
}

interface DenialToWrite {
  readonly owner: Name;
  readonly ttl: number;
  readonly nextPlace: string;
  /** The name at `nextPlace`. Only for NSEC. */
  readonly nextName: Name | undefined;
  readonly types: Iterable<number>;
}

export function denialSet(
  { owner, ttl, nextPlace, nextName, types }: DenialToWrite,
  kind: DenialKind,
): RecordSet {
  const codes = [...types].sort((a, b) => a - b);
  const rdata =
    kind === 'nsec'
      ? NSEC.encode({ nextName: nextName as Name, types: codes })
      : NSEC3.encode({ ...PARAMETERS, nextHashedName: Buffer.from(nextPlace, 'latin1'), types: codes });
  return { owner, type: denialType(kind), ttl, rdata: [Uint8Array.from(rdata)] };
}
