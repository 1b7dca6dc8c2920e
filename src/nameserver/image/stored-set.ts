// A record set as stored in the image, with its signatures. An edit copies the octets of sets that it does not change,
// and reads their records only on demand.

import type { Name } from '../../dns/name.ts';
import { nameFields, readRdata } from '../../dns/record/rdata.ts';
import type { RecordSet } from '../../zone/zone.ts';
import { setStart } from './compile-set.ts';
import { RECORD_HEAD_OCTETS, SET_FLAG } from './layout.ts';

const TTL_AT = 6; // RFC 1035 §4.1.3, after a pointer, type and class
const RDLENGTH_AT = 10;
/** From this length on, a view and `set` are faster than a loop. */
const LONG_OCTETS = 512;

/** A stored set is valid until its block is retired. */
export class StoredSet implements RecordSet {
  readonly owner: Name;
  readonly type: number;
  readonly records: number;
  /** The second word of the set: octets and flags. */
  readonly second: number;
  /** The third word of the set, or 0: octets and number of its signatures. */
  readonly third: number;
  /** A segment of the image, and the start of the set in it. A view is not stored because creating one is expensive. */
  readonly #segment: Uint8Array;
  readonly #start: number;
  #rdata: readonly Uint8Array[] | undefined;

  constructor(
    owner: Name,
    type: number,
    records: number,
    second: number,
    third: number,
    segment: Uint8Array,
    start: number,
  ) {
    this.owner = owner;
    this.type = type;
    this.records = records;
    this.second = second;
    this.third = third;
    this.#segment = segment;
    this.#start = start;
  }

  /** Octets of the records, without the signatures. */
  get octets(): number {
    return this.second & 0xffff;
  }

  get signatureOctets(): number {
    return this.third & 0xffff;
  }

  get ttl(): number {
    const segment = this.#segment;
    const at = this.#start + TTL_AT;
    const upper = ((segment[at] as number) << 8) | (segment[at + 1] as number);
    return upper * 0x10000 + (((segment[at + 2] as number) << 8) | (segment[at + 3] as number));
  }

  /** Copies the records and the signatures. */
  copyTo(octets: Uint8Array, at: number): void {
    const from = this.#segment;
    const start = this.#start;
    const length = this.octets + this.signatureOctets;
    if (length > LONG_OCTETS) octets.set(from.subarray(start, start + length), at);
    else for (let i = 0; i < length; i++) octets[at + i] = from[start + i] as number;
  }

  get rdata(): readonly Uint8Array[] {
    this.#rdata ??= this.#read();
    return this.#rdata;
  }

  get signatures(): readonly Uint8Array[] {
    const signatures: Uint8Array[] = [];
    const segment = this.#segment;
    let at = this.#start + this.octets;
    for (let left = this.third >>> 16; left > 0; left--) {
      const start = at + RECORD_HEAD_OCTETS;
      at = start + (((segment[start - 2] as number) << 8) | (segment[start - 1] as number));
      signatures.push(segment.slice(start, at));
    }
    return signatures;
  }

  /** Returns the same set in memory of its own. */
  read(): RecordSet {
    const { owner, type, ttl, rdata } = this;
    const set = { owner, type, ttl, rdata };
    return this.third === 0 ? set : { ...set, signatures: this.signatures };
  }

  #read(): Uint8Array[] {
    const { owner, type, records, second } = this;
    const compiled = this.#segment.subarray(this.#start, this.#start + this.octets);
    const isCompressed = (second & SET_FLAG.HAS_POINTERS) !== 0 && nameFields(type).length > 0;
    const message = isCompressed ? asMessage(owner, compiled) : compiled;
    const rdata: Uint8Array[] = [];
    let at = message.length - compiled.length;
    for (let i = 0; i < records; i++) {
      const length = ((message[at + RDLENGTH_AT] as number) << 8) | (message[at + RDLENGTH_AT + 1] as number);
      const start = at + RECORD_HEAD_OCTETS;
      rdata.push(
        isCompressed
          ? readRdata(type, message, start, length)
          : Uint8Array.from(message.subarray(start, start + length)),
      );
      at = start + length;
    }
    return rdata;
  }
}

/** Returns the number of records without reading them. */
export function recordsOfSet(set: RecordSet): number {
  return set instanceof StoredSet ? set.records : set.rdata.length;
}

/** Returns the number of signatures without reading them. */
export function signaturesOfSet(set: RecordSet): number {
  return set instanceof StoredSet ? set.third >>> 16 : (set.signatures?.length ?? 0);
}

/** Returns the set with these signatures instead of its own. */
export function withSignatures(set: RecordSet, signatures: readonly Uint8Array[] | undefined): RecordSet {
  const { owner, type, ttl, rdata } = set;
  return { owner, type, ttl, rdata, ...(signatures === undefined ? {} : { signatures }) };
}

/** Returns the answer that the set was compiled for, as far as pointers lead into it. */
function asMessage(owner: Name, compiled: Uint8Array): Uint8Array {
  const start = setStart(owner.length);
  const message = new Uint8Array(start + compiled.length);
  for (let i = 0; i < owner.length; i++) message[12 + i] = owner.charCodeAt(i);
  message.set(compiled, start);
  return message;
}
