// Checks that the octets of a stored record set conform to layout.ts, so that no reader that follows a length or a
// pointer leaves the set, loops, or finds rdata that does not fit its type.

import { WireError } from '../../../dns/errors.ts';
import { MAX_NAME_OCTETS } from '../../../dns/name.ts';
import { checkRdata, nameFields } from '../../../dns/record/rdata.ts';
import { CLASS, TYPE } from '../../../dns/type-codes.ts';
import { setStart } from '../compile-set.ts';
import { RECORD_HEAD_OCTETS, SET_FLAG } from '../layout.ts';
import { isNsec, isRrsig } from './plain-rdata.ts';

const MAX_LABEL_OCTETS = 63;
const MAX_POINTERS = 127; // the maximum number of labels
const RDATA_OCTETS = new Map<number, number>([
  [TYPE.A, 4],
  [TYPE.AAAA, 16],
]);

/** A set in a segment of the image. `owner` is the full name of its node. */
interface SetPlace {
  readonly octets: Uint8Array;
  /** The first octet of the set. */
  readonly at: number;
  readonly type: number;
  readonly records: number;
  /** The second word of the set: octets and flags. */
  readonly second: number;
  readonly owner: Uint8Array;
  readonly ownerOctets: number;
  readonly apexOctets: number;
}

/** Flags derived from the names of the current set. */
let flags = 0;

export function isSoundSet(set: SetPlace): boolean {
  const { octets, at, type, records, second } = set;
  const end = at + (second & 0xffff);
  const fields = nameFields(type);
  const fixed = RDATA_OCTETS.get(type);
  flags = 0;
  let record = at;
  for (let left = records; left > 0; left--) {
    const rdata = record + RECORD_HEAD_OCTETS;
    if (rdata > end || !isHead(octets, record, type)) return false;
    const next = rdata + (((octets[rdata - 2] as number) << 8) | (octets[rdata - 1] as number));
    if (next > end) return false;
    if (fixed !== undefined) {
      if (next - rdata !== fixed) return false;
    } else if (type === TYPE.NSEC) {
      if (!isNsec(octets, rdata, next)) return false;
    } else if (fields.length === 0) {
      if (!isRdata(type, octets.subarray(rdata, next))) return false;
    } else if (!areNames(set, fields, rdata, next)) return false;
    record = next;
  }
  return records > 0 && record === end && (second & ~0xffff) === flags;
}

/** Checks the signatures after a set; `third` is the set's word about them. */
export function areSoundSignatures({ octets, at, second }: SetPlace, third: number): boolean {
  const start = at + (second & 0xffff);
  const end = start + (third & 0xffff);
  let record = start;
  for (let left = third >>> 16; left > 0; left--) {
    const rdata = record + RECORD_HEAD_OCTETS;
    if (rdata > end || !isHead(octets, record, TYPE.RRSIG)) return false;
    for (let i = 6; i < 10; i++) if (octets[record + i] !== octets[at + i]) return false; // its set's TTL (RFC 4034 §3)
    record = rdata + (((octets[rdata - 2] as number) << 8) | (octets[rdata - 1] as number));
    if (record > end || !isRrsig(octets, rdata, record)) return false;
  }
  return record === end;
}

function isHead(octets: Uint8Array, at: number, type: number): boolean {
  return (
    octets[at] === 0xc0 &&
    octets[at + 1] === 12 &&
    (((octets[at + 2] as number) << 8) | (octets[at + 3] as number)) === type &&
    octets[at + 4] === 0 &&
    octets[at + 5] === CLASS.IN &&
    (octets[at + 6] as number) < 0x80 // RFC 2181 §8
  );
}

function isRdata(type: number, rdata: Uint8Array): boolean {
  try {
    checkRdata(type, rdata);
    return true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

/** Checks names that may be compressed, each after `skip` octets. Only SOA and MX contain other data. */
function areNames(set: SetPlace, fields: readonly { skip: number }[], from: number, to: number): boolean {
  let at = from;
  for (const { skip } of fields) {
    at = endOfName(set, at + skip, to);
    if (at < 0) return false;
  }
  return set.type === TYPE.SOA ? to - at === 20 : at === to;
}

/** Returns the end of the name at `from`, which must lie before `to`. Returns -1 if there is no valid name. */
function endOfName(set: SetPlace, from: number, to: number): number {
  const { octets, at: first } = set;
  const start = setStart(set.ownerOctets);
  let end = -1;
  let length = 0;
  let limit = to;
  for (let at = from, pointers = 0; ; ) {
    if (at >= limit) return -1;
    const label = octets[at] as number;
    if (label < 0xc0) {
      if (label > MAX_LABEL_OCTETS) return -1;
      length += label + 1;
      at += label + 1;
      if (at > limit || length > MAX_NAME_OCTETS) return -1;
      if (label === 0) return end < 0 ? at : end;
      continue;
    }
    if (at + 1 >= limit || ++pointers > MAX_POINTERS) return -1;
    const pointer = ((label & 0x3f) << 8) | (octets[at + 1] as number);
    if (end < 0) end = at + 2;
    flags |= SET_FLAG.HAS_POINTERS;
    if (pointer < start) {
      const suffix = suffixOctets(set, pointer - 12);
      if (suffix < 0 || length + suffix > MAX_NAME_OCTETS) return -1;
      if (suffix > set.apexOctets) flags |= SET_FLAG.HAS_OWNER_POINTERS;
      return end;
    }
    // A pointer into the set must lead backwards: what is read there ends before the pointer.
    const target = first + pointer - start;
    if (target >= Math.min(at, from)) return -1;
    limit = at;
    at = target;
  }
}

/** Returns the length of the owner's suffix whose first label starts at `start`, or -1. */
function suffixOctets({ owner, ownerOctets }: SetPlace, start: number): number {
  for (let at = 0; at <= start && at < ownerOctets; at += (owner[at] as number) + 1) {
    if (at === start) return ownerOctets - start;
  }
  return -1;
}
