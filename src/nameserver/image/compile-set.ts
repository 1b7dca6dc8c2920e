// Compiles a record set into the octets that answers copy: the owner is a pointer to the question, and names in rdata
// are compressed against the owner and each other (layout.ts defines where pointers may lead). The case of names is
// preserved, so a name whose case differs from the folded owner is not compressed against it.

import { HEADER_OCTETS as MESSAGE_HEADER_OCTETS } from '../../dns/message/header.ts';
import { isWildcard, isWithin, type Name } from '../../dns/name.ts';
import { nameFields } from '../../dns/record/rdata.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import type { RecordSet } from '../../zone/zone.ts';
import { MAX_SET_POINTER, RECORD_HEAD_OCTETS, SET_FLAG } from './layout.ts';

/** Returns the offset of the set in the answer that it is compiled for: after the question. */
export function setStart(ownerOctets: number): number {
  return MESSAGE_HEADER_OCTETS + ownerOctets + 4;
}

/** Returns an upper bound for the octets that `compileSet` writes. */
export function maxSetOctets({ rdata }: RecordSet): number {
  return octetsOfRecords(rdata);
}

/** Returns the number of octets that `compileSignatures` writes. */
export function octetsOfSignatures({ signatures }: RecordSet): number {
  return signatures === undefined ? 0 : octetsOfRecords(signatures);
}

function octetsOfRecords(rdata: readonly Uint8Array[]): number {
  let octets = 0;
  for (const one of rdata) octets += RECORD_HEAD_OCTETS + one.length;
  return octets;
}

let out: Uint8Array = new Uint8Array(0);
let length = 0;
/** Added to an index of `out` to get the offset in the message. */
let shift = 0;
let flags = 0;
let owner = '' as Name;
let apexOctets = 0;
/**
 * Message offsets of the names and suffixes in the set. Each set that needs a map gets a new one: a cleared map would
 * keep memory through many collections.
 */
let targets: Map<string, number> | undefined;

/** Writes the set to `into[at]` for a zone whose apex has `ofApex` octets. Returns the set's second word: octets and flags. */
export function compileSet(set: RecordSet, ofApex: number, into: Uint8Array, at: number): number {
  out = into;
  length = at;
  owner = set.owner;
  apexOctets = ofApex;
  shift = setStart(owner.length) - at;
  flags = 0;
  targets = undefined;
  const fields = nameFields(set.type);
  const hasMoreNames = set.rdata.length * fields.length > 1;
  for (const rdata of set.rdata) {
    writeHead(set.type, set.ttl);
    const start = length;
    if (fields.length === 0) copy(rdata, 0, rdata.length);
    else {
      let from = 0;
      for (const { skip } of fields) {
        copy(rdata, from, from + skip);
        const end = endOfName(rdata, from + skip);
        writeName(nameOf(rdata, from + skip, end), hasMoreNames);
        from = end;
      }
      copy(rdata, from, rdata.length);
    }
    out[start - 2] = (length - start) >> 8;
    out[start - 1] = length - start;
  }
  return (length - at) | flags;
}

/** Writes the signatures of a set, with its TTL (RFC 4034 §3). Returns the set's third word: octets and number. */
export function compileSignatures(set: RecordSet, into: Uint8Array, at: number): number {
  const { signatures = [], ttl } = set;
  out = into;
  length = at;
  for (const rdata of signatures) {
    writeHead(TYPE.RRSIG, ttl);
    out[length - 2] = rdata.length >> 8;
    out[length - 1] = rdata.length;
    copy(rdata, 0, rdata.length);
  }
  return (length - at) | (signatures.length << 16);
}

function writeHead(type: number, ttl: number): void {
  out[length] = 0xc0;
  out[length + 1] = MESSAGE_HEADER_OCTETS;
  out[length + 2] = type >> 8;
  out[length + 3] = type;
  out[length + 4] = 0;
  out[length + 5] = CLASS.IN;
  out[length + 6] = ttl >> 24;
  out[length + 7] = ttl >> 16;
  out[length + 8] = ttl >> 8;
  out[length + 9] = ttl;
  length += RECORD_HEAD_OCTETS; // RDLENGTH is written later
}

function writeName(name: Name, isTarget: boolean): void {
  for (let i = 0; name.charCodeAt(i) !== 0; ) {
    const suffix = (i === 0 ? name : name.slice(i)) as Name;
    const pointer = ownerPointer(suffix) || targets?.get(suffix) || 0;
    if (pointer !== 0) {
      flags |= SET_FLAG.HAS_POINTERS;
      out[length++] = 0xc0 | (pointer >> 8);
      out[length++] = pointer;
      return;
    }
    if (isTarget && length + shift <= MAX_SET_POINTER) {
      targets ??= new Map();
      targets.set(suffix, length + shift);
    }
    for (const next = i + name.charCodeAt(i) + 1; i < next; i++) out[length++] = name.charCodeAt(i);
  }
  out[length++] = 0;
}

/** Returns the offset of the suffix in the query name, or 0. A name matched by a wildcard does not contain the `*`. */
function ownerPointer(suffix: Name): number {
  if (!isWithin(owner, suffix) || (suffix.length === owner.length && isWildcard(owner))) return 0;
  if (suffix.length > apexOctets) flags |= SET_FLAG.HAS_OWNER_POINTERS;
  return MESSAGE_HEADER_OCTETS + owner.length - suffix.length;
}

function copy(octets: Uint8Array, from: number, to: number): void {
  // Most rdata is a few octets long; then a loop is faster than a view and `set`.
  if (to - from > 64)
    out.set(from === 0 && to === octets.length ? octets : octets.subarray(from, to), length);
  else for (let i = from; i < to; i++) out[length + i - from] = octets[i] as number;
  length += to - from;
}

function endOfName(rdata: Uint8Array, at: number): number {
  let end = at;
  while (rdata[end] !== 0) end += (rdata[end] as number) + 1;
  return end + 1;
}

function nameOf(rdata: Uint8Array, from: number, to: number): Name {
  let name = '';
  for (let i = from; i < to; i++) name += String.fromCharCode(rdata[i] as number);
  return name as Name;
}
